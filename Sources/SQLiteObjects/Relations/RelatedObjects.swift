import SQLiteCore
import SQLiteMapping
import SQLiteRelations

extension LazySource {
  /// The objects that the property leads to.
  var objects: RelatedObjects {
    get throws {
      let store = try content.store
      let objects = RelatedObjects(
        store: store, relation: try store.relation(of: shape, slot),
        zIndex: zIndex, generation: content.generation)
      try objects.checkIsCurrent()
      return objects
    }
  }
}

/// The handle of lazy and reverse relations: the objects that a relation leads to from one object, which stay in the
/// store.
struct RelatedObjects: Sendable {
  let store: any ObjectStore
  let relation: ObjectRelation
  /// The object that the relation leads from.
  let zIndex: Int64
  /// The content of the store that this object is of.
  let generation: Int

  /// The result of a read, as of one snapshot.
  struct Found: Sendable {
    var count = 0
    var links: [StoredLink] = []
    var fetched = Fetched.plain([])
  }

  /// A read on a connection.
  typealias Reading = @Sendable (Connection) throws -> Found

  /// Throws if the content of the store was replaced since the object was fetched.
  func checkIsCurrent() throws {
    guard generation == store.generation else {
      throw MagicError.restored(type: relation.owner.typeName)
    }
  }

  /// Reads, blocking the thread. Nothing is found if the store has no table for the relation yet.
  func found(isOneStatement: Bool = false, _ read: Reading) throws -> Found {
    var result = Found()
    try store.read(isOneStatement ? relation.owner : nil, isOneStatement: isOneStatement) {
      result = try found($0, read)
    }
    return result
  }

  /// The suspending form of ``found(isOneStatement:_:)``.
  nonisolated(nonsending) func found(
    isOneStatement: Bool = false, _ read: @escaping Reading
  ) async throws -> Found {
    try await store.read(isOneStatement ? relation.owner : nil, isOneStatement: isOneStatement) {
      try found($0, read)
    }
  }

  /// Whether ``objects(_:_:)`` is one statement, since the objects lead to no others.
  var areOneStatement: Bool { !relation.destination.needsContext }

  /// Reads all objects, blocking the thread.
  func objects() throws -> Found {
    try found(isOneStatement: areOneStatement) { try objects($0) }
  }

  /// The suspending form of ``objects()``.
  nonisolated(nonsending) func objects() async throws -> Found {
    try await found(isOneStatement: areOneStatement) { try objects($0) }
  }

  /// Reads on a connection.
  func found(_ connection: Connection, _ read: Reading) throws -> Found {
    try checkIsCurrent()
    guard
      try store.isReady(relation.owner) || relation.isStored(store.tables, connection)
    else { return Found() }
    return try read(connection)
  }

  /// A request whose answer is made of what a read finds.
  func request<Result>(
    isOneStatement: Bool = false, _ read: @escaping Reading,
    then: @escaping (Found) throws -> LazyAnswer<Result>
  ) -> LazyAnswer<Result> {
    .request(self, isOneStatement: isOneStatement, read, then: then)
  }
}

// Reads.
extension RelatedObjects {
  /// Counts the links.
  func count(_ connection: Connection) throws -> Found {
    Found(count: try relation.count(from: zIndex, in: connection))
  }

  /// Reads links without the objects.
  func links(_ connection: Connection, _ page: Relation.Page = .init()) throws -> Found {
    guard relation.table == nil else {
      return Found(links: try relation.keys.links(from: zIndex, page, in: connection))
    }
    guard let target = try relation.keys.end(from: zIndex, in: connection) else {
      throw MagicError.missingTarget(type: relation.owner.typeName, zIndex: zIndex)
    }
    return Found(links: target.map { [StoredLink(owner: zIndex, place: .null, target: $0)] } ?? [])
  }

  /// Reads links with their objects.
  func targets(_ connection: Connection, _ page: Relation.Page = .init()) throws -> Found {
    try targets(of: links(connection, page).links, connection)
  }

  /// Reads the objects of links.
  func targets(of links: [StoredLink], _ connection: Connection) throws -> Found {
    let loader = GraphLoader(store, connection)
    try loader.load(relation.destination.type, links.map(\.target))
    return Found(links: links, fetched: .graph(loader.graph))
  }

  /// Reads the objects of links that were read before, without those that are gone.
  func present(_ links: [StoredLink], _ connection: Connection) throws -> Found {
    let present = try relation.keys.present(links.map(\.target), in: connection)
    return try targets(of: links.filter { present.contains($0.target) }, connection)
  }

  /// Reads the objects, each once, in the order of their keys. It is one statement if they lead to no others.
  func objects(_ connection: Connection, _ page: Relation.Page = .init()) throws -> Found {
    let loader = GraphLoader(store, connection)
    guard areOneStatement, store.isReady(relation.owner) else {
      try loader.load(
        relation.destination, from: relation.keys.rows(from: .integer(zIndex), page))
      return Found(fetched: .graph(loader.graph))
    }
    let content = StoreContent(of: store)
    var storages: [ObjectStorage] = []
    try relation.forEachObject(from: zIndex, page, in: connection) {
      storages.append(try relation.destination.storage(of: $0, in: content))
    }
    store.forgetFetched(storages[...], afterRollbackOn: connection)
    return Found(fetched: .plain(storages))
  }
}

extension RelatedObjects {
  /// Makes the objects of a read of objects.
  func objects<Object: MagicObject>(of type: Object.Type, _ found: Found) throws -> [Object] {
    try found.fetched.objects(type, relation.destination, in: store)
  }

  /// Makes the objects of a read of links.
  func links<Object: MagicObject>(
    to type: Object.Type, _ found: Found
  ) throws -> [_MagicLink<Object>] {
    guard case .graph(let graph) = found.fetched else { return [] }
    let objects = try FetchContext(store, graph)
      .objects(type, found.links.map(\.target)[...])
    return zip(found.links, objects).map { _MagicLink($0.place, $1) }
  }
}

/// The answer of a relation: known at once, or there after a request to its store.
///
/// The answer is made on the caller's side: only the request and what it finds travel. The blocking and the suspending
/// form of a call differ only in how they wait for the store.
enum LazyAnswer<Result> {
  case known(Result)
  case request(
    RelatedObjects, isOneStatement: Bool, RelatedObjects.Reading,
    then: (RelatedObjects.Found) throws -> LazyAnswer)

  /// Waits for the store, blocking the thread.
  func get() throws -> Result {
    var answer = self
    while true {
      switch answer {
      case .known(let result): return result
      case .request(let objects, let isOneStatement, let read, let then):
        answer = try then(objects.found(isOneStatement: isOneStatement, read))
      }
    }
  }

  /// The suspending form of ``get()``.
  nonisolated(nonsending) func get() async throws -> Result {
    var answer = self
    while true {
      switch answer {
      case .known(let result): return result
      case .request(let objects, let isOneStatement, let read, let then):
        answer = try then(try await objects.found(isOneStatement: isOneStatement, read))
      }
    }
  }

  func map<Other>(_ transform: @escaping (Result) throws -> Other) throws -> LazyAnswer<Other> {
    switch self {
    case .known(let result): return .known(try transform(result))
    case .request(let objects, let isOneStatement, let read, let then):
      return .request(objects, isOneStatement: isOneStatement, read) {
        try then($0).map(transform)
      }
    }
  }
}

/// Items that are fetched in batches, from the next one on.
struct ItemBatch<Item> {
  var items: ArraySlice<Item> = []
  /// Fetches the batch behind these items; nil at the end.
  var rest: (() throws -> LazyAnswer<ItemBatch>)?

  nonisolated(nonsending) mutating func next() async throws -> Item? {
    // Objects that are gone since are passed over, so that a batch may bring nothing.
    while items.isEmpty, let rest { self = try await rest().get() }
    return items.popFirst()
  }
}
