/// A selection of the cases and engines to measure: all of them, or those that match a name.
struct Filter {
  let name: String?

  /// Creates a filter for the name of a case, an engine or a pair `case/engine`.
  ///
  /// - Throws: ``Failure`` if no case or engine matches.
  init(checking name: String) throws {
    self.name = name
    guard allCases.contains(where: { !engines(of: $0).isEmpty }) else {
      throw Failure.usage("no case or engine is named \(name); use --list to print all names")
    }
  }

  init(name: String?) {
    self.name = name
  }

  /// Returns the selected engines of `entry`. Includes C if any other engine is selected, because
  /// their times are reported relative to C.
  func engines(of entry: some Case) -> [(engine: Engine, turn: Turn)] {
    let fitting = entry.engines.map { (engine: $0.key, turn: $0.value) }.filter {
      fits(entry.name, $0.engine)
    }
    guard let baseline = entry.engines.first(where: { $0.key == .c }), !fitting.isEmpty else {
      return []
    }
    return [(.c, baseline.value)] + fitting.filter { $0.engine != .c }
  }

  private func fits(_ entry: String, _ engine: Engine) -> Bool {
    guard let name else { return true }
    // `readers` also selects readers-0, readers-1 and so on.
    let family = entry.split(separator: "-").prefix { Int($0) == nil }.joined(separator: "-")
    return [entry, family, engine.rawValue, "\(entry)/\(engine.rawValue)"].contains(name)
  }
}
