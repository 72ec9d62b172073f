import SQLiteCore

extension AsyncMagical where Element: MagicCollection {
  /// Fetches one item by chance, and no other; nil if there is none. Blocks the thread.
  ///
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func randomValue() throws -> Element.MagicItem? {
    switch try known() {
    case .value(let value): return try random(value, nil)
    case .source(let source, let state) where !state.edits.isEmpty:
      let links = try source.store.read { try source.links(nil, $0) }
      let item = try random(items(links, source, state), nil)
      return try fetch(item, source).first.map { try Element.magicItem(of: $0) }
    case .source(let source, _):
      let targets = try source.store.read { try source.loadRandom(nil, $0) }
      return try items(of: targets, source).first
    }
  }

  /// As the blocking ``randomValue()``, suspending the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func randomValue() async throws -> Element.MagicItem? {
    switch try known() {
    case .value(let value): return try random(value, nil)
    case .source(let source, let state) where !state.edits.isEmpty:
      let links = try await source.store.read { try source.links(nil, $0) }
      let item = try random(items(links, source, state), nil)
      return try await fetch(item, source).first.map { try Element.magicItem(of: $0) }
    case .source(let source, _):
      let targets = try await source.store.read { try source.loadRandom(nil, $0) }
      return try items(of: targets, source).first
    }
  }

  fileprivate func random(_ value: Element, _ range: Range<Int>?) throws -> Element.MagicItem? {
    try random(value.magicLinks, range).first.map { try Element.magicItem(of: $0) }
  }

  /// One of some items by chance, or none if there is none.
  fileprivate func random<Item>(_ items: [Item], _ range: Range<Int>?) throws -> [Item] {
    let range = range ?? 0..<items.count
    guard range.lowerBound >= 0, range.upperBound <= items.count else {
      throw MagicError.outOfRange(count: items.count)
    }
    return items[range].randomElement().map { [$0] } ?? []
  }
}

extension AsyncMagical
where Element: MagicCollection & RandomAccessCollection, Element.Index == Int {
  /// Fetches one item at some places by chance, and no other; nil if the range is empty.
  ///
  /// Blocks the thread.
  ///
  /// - Parameter range: The places, from 0.
  /// - Throws: ``MagicError/outOfRange(count:)`` if the range goes beyond the items, ``SQLiteError``.
  public func randomValue(in range: Range<Int>) throws -> Element.MagicItem? {
    switch try known() {
    case .value(let value): return try random(value, range)
    case .source(let source, let state) where !state.edits.isEmpty:
      let links = try source.store.read { try source.links(nil, $0) }
      let item = try random(items(links, source, state), range)
      return try fetch(item, source).first.map { try Element.magicItem(of: $0) }
    case .source(let source, _):
      let targets = try source.store.read { try source.loadRandom(range, $0) }
      return try items(of: targets, source).first
    }
  }

  /// As the blocking ``randomValue(in:)``, suspending the task.
  ///
  /// - Parameter range: The places, from 0.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func randomValue(
    in range: Range<Int>
  ) async throws -> Element.MagicItem? {
    switch try known() {
    case .value(let value): return try random(value, range)
    case .source(let source, let state) where !state.edits.isEmpty:
      let links = try await source.store.read { try source.links(nil, $0) }
      let item = try random(items(links, source, state), range)
      return try await fetch(item, source).first.map { try Element.magicItem(of: $0) }
    case .source(let source, _):
      let targets = try await source.store.read { try source.loadRandom(range, $0) }
      return try items(of: targets, source).first
    }
  }
}
