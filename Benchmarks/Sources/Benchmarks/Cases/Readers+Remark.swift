extension Readers {
  /// Returns the percentage of its speed that a reader keeps with a concurrent writer.
  func remark(on measurements: [Measurement]) -> String? {
    guard readers == 1, hasWriter else { return nil }
    let kept = [Engine.c, .statement, .grdbStatement].compactMap { engine -> String? in
      func time(_ name: String) -> Double? {
        measurements.first { $0.case == name && $0.engine == engine }?.nanoseconds
      }
      guard let alone = time("readers-alone-1"), let concurrent = time(name) else { return nil }
      return "\(engine.rawValue) \(fixed(alone / concurrent * 100, digits: 0)) %"
    }
    guard !kept.isEmpty else { return nil }
    return "readers: speed of a reader with a busy writer, relative to a reader alone: "
      + kept.joined(separator: ", ")
  }
}
