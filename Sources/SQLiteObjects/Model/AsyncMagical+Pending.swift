import SQLiteCore
import SQLiteRelations

// What is asked of a collection with changes that are not saved yet: the links are read, without what
// they lead to, the changes are made to them, and only what is wanted is fetched.
extension AsyncMagical where Element: MagicCollection {
  /// The links with the changes.
  func items(_ links: [Link], _ source: LazySource, _ state: LazyState) throws -> [LazyItem] {
    let store = source.store.identity
    var items = links.map { LazyItem.stored($0, store) }
    try LazyItem.apply(state.changes, to: &items, Element.arrangement, in: store)
    return items
  }

  /// Fetches what some of the links lead to, blocking the thread.
  func fetch(
    _ items: some Collection<LazyItem>, _ source: LazySource
  ) throws -> [MagicLink<Element.Target>] {
    let links = items.compactMap(\.link)
    return try AsyncMagical.links(
      items, links.isEmpty ? nil : source.store.read { try source.loadTargets(of: links, $0) },
      source)
  }

  /// As the blocking form, suspending the task.
  nonisolated(nonsending) func fetch(
    _ items: some Collection<LazyItem>, _ source: LazySource
  ) async throws -> [MagicLink<Element.Target>] {
    let links = items.compactMap(\.link)
    guard !links.isEmpty else { return try AsyncMagical.links(items, nil, source) }
    let targets = try await source.store.read { try source.loadTargets(of: links, $0) }
    return try AsyncMagical.links(items, targets, source)
  }

  /// Puts together what was fetched and what was added.
  private static func links(
    _ items: some Collection<LazyItem>, _ targets: LoadedTargets?, _ source: LazySource
  ) throws -> [MagicLink<Element.Target>] {
    let objects = try targets?.objects(Element.Target.self, in: source.store) ?? []
    var next = 0
    return try items.compactMap { item in
      switch item {
      case .added(let place, let target): return try MagicLink.make(place, target)
      case .stored(let link, _):
        // What is gone since was passed over.
        guard let targets, next < objects.count, targets.links[next] == link else { return nil }
        next += 1
        return objects[next - 1]
      }
    }
  }

  /// Refuses a filter: conditions are the database's business, which does not know the changes yet.
  func refuse(_ filter: Filter<Element.Target>?) throws {
    if filter != nil { throw MagicError.notSaved(type: "\(Element.self)") }
  }
}

extension LazyItem {
  /// The link in the store, or nil.
  var link: Link? {
    if case .stored(let link, _) = self { link } else { nil }
  }
}
