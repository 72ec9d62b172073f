import SQLiteCore

extension AsyncMagical where Element: MagicCollection {
  /// The number of objects, counted by the database, blocking the thread.
  ///
  /// Objects that an array has several times count several times.
  public var count: Int { get throws { try count(where: nil) } }

  /// Counts objects without fetching them, blocking the thread.
  ///
  /// - Parameter filter: What the objects to count have in common.
  /// - Throws: ``MagicError`` or ``SQLiteError``; also for a filter on a value that was set or
  ///   changed and is not saved yet.
  public func count(where filter: Filter<Element.Target>?) throws -> Int {
    switch try known() {
    case .value(let value): return try links(of: value, filter).count
    case .source(let source, let state) where !state.edits.isEmpty:
      try refuse(filter)
      if let added = addedCount(state) { return try source.count(where: nil) + added }
      return try items(source.store.read { try source.links(nil, $0) }, source, state).count
    case .source(let source, _):
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
    case .source(let source, let state) where !state.edits.isEmpty:
      try refuse(filter)
      if let added = addedCount(state) { return try await source.count(where: nil) + added }
      let links = try await source.store.read { try source.links(nil, $0) }
      return try items(links, source, state).count
    case .source(let source, _):
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
    case .source(let source, let state) where !state.edits.isEmpty:
      try refuse(filter)
      let links = try source.store.read { try source.links(nil, $0) }
      let page = part(try items(links, source, state), limit, offset)
      return try fetch(page, source).map { try Element.magicItem(of: $0) }
    case .source(let source, _):
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
    case .source(let source, let state) where !state.edits.isEmpty:
      try refuse(filter)
      let links = try await source.store.read { try source.links(nil, $0) }
      let page = part(try items(links, source, state), limit, offset)
      return try await fetch(page, source).map { try Element.magicItem(of: $0) }
    case .source(let source, _):
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
    try refuse(filter)
    return try value.magicLinks
  }

  private func items(
    of value: Element, _ filter: Filter<Element.Target>?, _ limit: Int?, _ offset: Int
  ) throws -> [Element.MagicItem] {
    try part(links(of: value, filter), limit, offset).map { try Element.magicItem(of: $0) }
  }

  private func part<Item>(_ items: [Item], _ limit: Int?, _ offset: Int) -> ArraySlice<Item> {
    items.dropFirst(max(0, offset)).prefix(limit.map { max(0, $0) } ?? .max)
  }

  /// How many objects changes of an array add, if that is all they do.
  private func addedCount(_ state: LazyState) -> Int? {
    Element.arrangement == .list ? LinkEdit.addedCount(state.changes) : nil
  }
}
