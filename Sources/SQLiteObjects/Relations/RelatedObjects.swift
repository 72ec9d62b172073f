import SQLiteCore
import SQLiteMapping
import SQLiteRelations

extension LazySource {
  /// The objects that the property leads to.
  var objects: RelatedObjects {
    get throws {
      let store = try content.store
      let objects = RelatedObjects(
        store: store,
        relation: try store.relations.relation(store.plan(shape.type), slot, in: store),
        zIndex: zIndex, generation: content.generation)
      try objects.checkIsCurrent()
      return objects
    }
  }
}

/// The objects that a relation leads to from one object: of a lazy property its targets, of a reverse
/// value its owners. They stay in the store, which answers requests for them.
struct RelatedObjects: Sendable {
  let store: any ObjectStore
  let relation: ObjectRelation
  /// The object that the relation leads from.
  let zIndex: Int64
  /// The content of the store that this object is of.
  let generation: Int

  /// A question about the objects.
  enum Question: Sendable {
    /// Their number.
    case count
    /// The links without the objects; with a key, the links of a dictionary's key.
    case links(key: Value? = nil)
    /// Links with their objects.
    case targets(Relation.Page = .init())
    /// Links that were read before with their objects; links to objects that are gone are left out.
    case targetsOf([StoredLink])
    /// One link with its object at random, of all or of those at some positions.
    case random(Range<Int>?)
    /// The objects themselves, each once, in the order of their keys.
    case objects(Relation.Page)
  }

  /// The answer to a request, as of one snapshot.
  struct Answer: Sendable {
    var count = 0
    var links: [StoredLink] = []
    var fetched = Fetched.plain([])
  }

  /// Throws if the content of the store was replaced since the object was fetched.
  func checkIsCurrent() throws {
    guard generation == store.generation else {
      throw MagicError.restored(type: relation.owner.typeName)
    }
  }

  /// Answers a request, blocking the thread.
  func answer(_ request: Question) throws -> Answer {
    try checkIsCurrent()
    if isOneStatement(request), try store.makeReady(relation.owner) {
      return try store.select { try select(request, $0) }
    }
    return try store.read { try read(request, $0) }
  }

  /// As ``answer(_:)``, without blocking the task.
  nonisolated(nonsending) func answer(_ request: Question) async throws -> Answer {
    try checkIsCurrent()
    if isOneStatement(request), try await store.makeReady(relation.owner) {
      return try await store.select { try select(request, $0) }
    }
    return try await store.read { try read(request, $0) }
  }

  /// Returns whether one statement answers the request if the tables have all columns: it needs no
  /// transaction then.
  private func isOneStatement(_ request: Question) -> Bool {
    switch request {
    case .count: true
    case .objects: !relation.destination.needsContext
    case .links, .targets, .targetsOf, .random: false
    }
  }

  private func select(_ request: Question, _ connection: Connection) throws -> Answer {
    guard case .objects(let page) = request else {
      return Answer(count: try relation.count(from: zIndex, in: connection))
    }
    let content = StoreContent(of: store)
    var storages: [ObjectStorage] = []
    try relation.forEachObject(from: zIndex, page, in: connection) {
      storages.append(try relation.destination.storage(of: $0, in: content))
    }
    store.forgetFetched(storages[...], afterRollbackOn: connection)
    return Answer(fetched: .plain(storages))
  }

  /// Answers a request in an open transaction.
  func read(_ request: Question, _ connection: Connection) throws -> Answer {
    try checkIsCurrent()
    guard try relation.isStored(store.tables, connection) else { return try nothing(for: request) }
    switch request {
    case .count: return try select(request, connection)
    case .links(let key):
      let page = key.map { relation.keys.page(at: $0) } ?? Relation.Page()
      return Answer(links: try links(page, connection))
    case .targets(let page):
      return try answer(with: links(page, connection), connection)
    case .targetsOf(let links):
      guard !links.isEmpty else { return Answer() }
      let present = try relation.keys.present(links.map(\.target), in: connection)
      return try answer(with: links.filter { present.contains($0.target) }, connection)
    case .random(let range):
      let count = try relation.keys.count(from: .integer(zIndex), in: connection)
      let range = try checked(range, count)
      let page = Relation.Page(
        limit: range.isEmpty ? 0 : 1, offset: range.randomElement() ?? 0)
      return try answer(with: links(page, connection), connection)
    case .objects(let page):
      let loader = GraphLoader(store, connection)
      try loader.load(
        relation.destination, from: relation.keys.rows(from: .integer(zIndex), page))
      return Answer(fetched: .graph(loader.graph))
    }
  }

  /// The answer as long as nothing was stored for the relation.
  private func nothing(for request: Question) throws -> Answer {
    if case .random(let range) = request { _ = try checked(range, 0) }
    return Answer()
  }

  private func checked(_ range: Range<Int>?, _ count: Int) throws -> Range<Int> {
    let range = range ?? 0..<count
    guard range.lowerBound >= 0, range.upperBound <= count else {
      throw MagicError.outOfRange(count: count)
    }
    return range
  }

  private func links(_ page: Relation.Page, _ connection: Connection) throws -> [StoredLink] {
    guard relation.table == nil else {
      return try relation.keys.links(from: zIndex, page, in: connection)
    }
    guard let target = try relation.keys.end(from: zIndex, in: connection) else {
      throw MagicError.missingTarget(type: relation.owner.typeName, zIndex: zIndex)
    }
    return target.map { [StoredLink(owner: zIndex, place: .null, target: $0)] } ?? []
  }

  /// Reads the objects that links lead to, with all that these lead to.
  private func answer(with links: [StoredLink], _ connection: Connection) throws -> Answer {
    let loader = GraphLoader(store, connection)
    try loader.load(relation.destination.type, links.map(\.target))
    return Answer(links: links, fetched: .graph(loader.graph))
  }
}

extension RelatedObjects {
  /// The page after the last of some links.
  func page(after link: StoredLink?, limit: Int) -> Relation.Page {
    Relation.Page(
      after: link.flatMap { link in relation.table.map { $0.order(of: link) } }, limit: limit)
  }

  /// The objects of an answer that the relation leads to, each once.
  func objects<Object: MagicObject>(of type: Object.Type, _ answer: Answer) throws -> [Object] {
    try answer.fetched.objects(type, relation.destination, in: store)
  }

  /// The objects of an answer with the keys of their links.
  func links<Object: MagicObject>(
    to type: Object.Type, _ answer: Answer
  ) throws -> [MagicLink<Object>] {
    guard case .graph(let graph) = answer.fetched else { return [] }
    let objects = try FetchContext(store, graph)
      .objects(type, answer.links.map(\.target)[...])
    return zip(answer.links, objects).map { MagicLink($0.place, $1) }
  }
}
