import SQLiteCore

extension AsyncMagical where Element: MagicCollection {
  /// The number of objects, counted by the database, blocking the thread.
  ///
  /// Objects that an array has several times count several times.
  public var count: Int { get throws { try count(where: nil) } }

  /// Counts objects without fetching them, blocking the thread.
  ///
  /// - Parameter filter: What the objects to count have in common.
  /// - Throws: ``MagicError`` or ``SQLiteError``; also for a filter on a value that was set and is not
  ///   saved yet.
  public func count(where filter: Filter<Element.Target>?) throws -> Int {
    switch try known() {
    case .value(let value): return try links(of: value, filter).count
    case .source(let source):
      let condition = try source.condition(filter)
      return try source.count(where: condition)
    }
  }

  /// As the blocking ``count(where:)``, suspending the task.
  ///
  /// - Parameter filter: What the objects to count have in common.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func count(
    where filter: Filter<Element.Target>?
  ) async throws -> Int {
    switch try known() {
    case .value(let value): return try links(of: value, filter).count
    case .source(let source):
      let condition = try source.condition(filter)
      return try await source.count(where: condition)
    }
  }

  /// Fetches some of the objects, blocking the thread.
  ///
  ///     let page = try owner.items.objects(where: \.$price > 10, limit: 20, offset: 40)
  ///
  /// - Parameters:
  ///   - filter: What the objects have in common.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  /// - Returns: The objects in their order; of a dictionary, pairs of a key and an object.
  /// - Throws: As ``count(where:)``.
  public func objects(
    where filter: Filter<Element.Target>? = nil, limit: Int? = nil, offset: Int = 0
  ) throws -> [Element.MagicItem] {
    switch try known() {
    case .value(let value): return try items(of: value, filter, limit, offset)
    case .source(let source):
      let page = LazySource.Page(
        condition: try source.condition(filter), limit: limit, offset: offset)
      let targets = try source.store.read { try source.load(page, $0) }
      return try items(of: targets, source)
    }
  }

  /// As the blocking ``objects(where:limit:offset:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - filter: What the objects have in common.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func objects(
    where filter: Filter<Element.Target>? = nil, limit: Int? = nil, offset: Int = 0
  ) async throws -> [Element.MagicItem] {
    switch try known() {
    case .value(let value): return try items(of: value, filter, limit, offset)
    case .source(let source):
      let page = LazySource.Page(
        condition: try source.condition(filter), limit: limit, offset: offset)
      let targets = try await source.store.read { try source.load(page, $0) }
      return try items(of: targets, source)
    }
  }

  func items(of targets: LoadedTargets, _ source: LazySource) throws -> [Element.MagicItem] {
    try targets.objects(Element.Target.self, in: source.store).map { try Element.magicItem(of: $0) }
  }

  private func links(
    of value: Element, _ filter: Filter<Element.Target>?
  ) throws -> [MagicLink<Element.Target>] {
    // Conditions are the database's business, which does not know the value yet.
    guard filter == nil else { throw MagicError.notSaved(type: "\(Element.self)") }
    return try value.magicLinks
  }

  private func items(
    of value: Element, _ filter: Filter<Element.Target>?, _ limit: Int?, _ offset: Int
  ) throws -> [Element.MagicItem] {
    try links(of: value, filter).dropFirst(max(0, offset)).prefix(limit.map { max(0, $0) } ?? .max)
      .map { try Element.magicItem(of: $0) }
  }
}
