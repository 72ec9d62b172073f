import SQLiteCore
import SQLiteMapping
import SQLiteRelations

extension LazySource {
  /// A reference to the related objects of the property.
  ///
  /// Accessing this property throws ``MagicError/closed`` if the store was released, and
  /// ``MagicError/restored(type:)`` if its contents have been replaced since the object was
  /// fetched.
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

/// A reference to the related objects of one object. Lazy and reverse relations use it to read the
/// objects from the store on request.
struct RelatedObjects: Sendable {
  let store: any ObjectStore
  let relation: ObjectRelation
  /// The z_index of the object that has the relation property.
  let zIndex: Int64
  /// The generation of the store's contents from which the object with the relation was fetched.
  let generation: Int

  /// The result of a read from one snapshot: the number of links, the links, or the objects.
  struct ReadResult: Sendable {
    var count = 0
    var links: [StoredLink] = []
    var fetched = Fetched.plain([])
  }

  /// A closure that reads links or related objects on a connection.
  typealias Reading = @Sendable (Connection) throws -> ReadResult

  /// Throws ``MagicError/restored(type:)`` if the store's contents have been replaced since the
  /// object was fetched.
  func checkIsCurrent() throws {
    guard generation == store.generation else {
      throw MagicError.restored(type: relation.owner.typeName)
    }
  }

  /// Runs a read, blocking the thread. The result is empty if the store has no table for the
  /// relation yet.
  func found(isOneStatement: Bool = false, _ read: Reading) throws -> ReadResult {
    var result = ReadResult()
    try store.read(isOneStatement ? relation.owner : nil, isOneStatement: isOneStatement) {
      result = try found($0, read)
    }
    return result
  }

  /// Runs a read, suspending the task. The result is empty if the store has no table for the
  /// relation yet.
  nonisolated(nonsending) func found(
    isOneStatement: Bool = false, _ read: @escaping Reading
  ) async throws -> ReadResult {
    try await store.read(isOneStatement ? relation.owner : nil, isOneStatement: isOneStatement) {
      try found($0, read)
    }
  }

  /// Whether the objects have no eager relations, so that ``objects(_:_:)`` runs a single statement
  /// after the store has inspected the tables.
  var areOneStatement: Bool { !relation.destination.needsContext }

  /// Reads all objects, blocking the thread.
  func objects() throws -> ReadResult {
    try found(isOneStatement: areOneStatement) { try objects($0) }
  }

  /// Reads all objects, suspending the task.
  nonisolated(nonsending) func objects() async throws -> ReadResult {
    try await found(isOneStatement: areOneStatement) { try objects($0) }
  }

  /// Runs a read on a connection. The result is empty if the store has no table for the relation
  /// yet.
  func found(_ connection: Connection, _ read: Reading) throws -> ReadResult {
    try checkIsCurrent()
    guard
      try store.isReady(relation.owner) || relation.isStored(store.tables, connection)
    else { return ReadResult() }
    return try read(connection)
  }

  /// Returns an answer that is computed from the result of a read. Nothing is read before the
  /// answer is requested with `get()`.
  func request<Result>(
    isOneStatement: Bool = false, _ read: @escaping Reading,
    then: @escaping (ReadResult) throws -> LazyAnswer<Result>
  ) -> LazyAnswer<Result> {
    .request(self, isOneStatement: isOneStatement, read, then: then)
  }
}

// The reads that a request can run.
extension RelatedObjects {
  /// Counts the links of the relation without reading them.
  func count(_ connection: Connection) throws -> ReadResult {
    ReadResult(count: try relation.count(from: zIndex, in: connection))
  }

  /// Reads a page of links, by default all of them, without their objects.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the relation is a reference and its
  ///   owner doesn't exist.
  func links(_ connection: Connection, _ page: Relation.Page = .init()) throws -> ReadResult {
    guard relation.table == nil else {
      return ReadResult(links: try relation.keys.links(from: zIndex, page, in: connection))
    }
    guard let target = try relation.keys.end(from: zIndex, in: connection) else {
      throw MagicError.missingTarget(type: relation.owner.typeName, zIndex: zIndex)
    }
    return ReadResult(
      links: target.map { [StoredLink(owner: zIndex, place: .null, target: $0)] } ?? [])
  }

  /// Reads a page of links, by default all of them, with their objects.
  func targets(_ connection: Connection, _ page: Relation.Page = .init()) throws -> ReadResult {
    try targets(of: links(connection, page).links, connection)
  }

  /// Reads the objects that links reference.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them doesn't exist.
  func targets(of links: [StoredLink], _ connection: Connection) throws -> ReadResult {
    let loader = GraphLoader(store, connection)
    try loader.load(relation.destination.type, links.map(\.target))
    return ReadResult(links: links, fetched: .graph(loader.graph))
  }

  /// Reads the objects of links that were read before. Skips objects that have been removed since.
  func present(_ links: [StoredLink], _ connection: Connection) throws -> ReadResult {
    let present = try relation.keys.present(links.map(\.target), in: connection)
    return try targets(of: links.filter { present.contains($0.target) }, connection)
  }

  /// Reads a page of the related objects, by default all of them, each once and in the order of
  /// their keys. Runs a single statement if the objects have no eager relations and the store has
  /// inspected the tables.
  func objects(_ connection: Connection, _ page: Relation.Page = .init()) throws -> ReadResult {
    let loader = GraphLoader(store, connection)
    guard areOneStatement, store.isReady(relation.owner) else {
      try loader.load(
        relation.destination, from: relation.keys.rows(from: .integer(zIndex), page))
      return ReadResult(fetched: .graph(loader.graph))
    }
    let content = StoreContent(of: store)
    var storages: [ObjectStorage] = []
    try relation.forEachObject(from: zIndex, page, in: connection) {
      storages.append(try relation.destination.storage(of: $0, in: content))
    }
    store.forgetFetched(storages[...], afterRollbackOn: connection)
    return ReadResult(fetched: .plain(storages))
  }
}

extension RelatedObjects {
  /// Creates the objects from the result of ``objects(_:_:)``.
  func objects<Object: MagicObject>(of type: Object.Type, _ found: ReadResult) throws -> [Object] {
    try found.fetched.objects(type, relation.destination, in: store)
  }

  /// Creates the objects from the result of ``targets(_:_:)``, with the keys of their links.
  func links<Object: MagicObject>(
    to type: Object.Type, _ found: ReadResult
  ) throws -> [_MagicLink<Object>] {
    guard case .graph(let graph) = found.fetched else { return [] }
    let objects = try FetchContext(store, graph)
      .objects(type, found.links.map(\.target)[...])
    return zip(found.links, objects).map { _MagicLink($0.place, $1) }
  }
}

/// The answer to a call of a relation's method: a known result, or a request to the store.
///
/// Only the request and the data that it reads cross to another thread. The answer is computed in
/// the caller's isolation domain. The blocking and the suspending form of a call differ only in how
/// they wait for the store.
enum LazyAnswer<Result> {
  case known(Result)
  case request(
    RelatedObjects, isOneStatement: Bool, RelatedObjects.Reading,
    then: (RelatedObjects.ReadResult) throws -> LazyAnswer)

  /// Returns the result, blocking the thread until the store has read the data.
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

  /// Returns the result, suspending the task until the store has read the data.
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

/// A batch of items, with a closure that fetches the next batch.
struct ItemBatch<Item> {
  var items: ArraySlice<Item> = []
  /// A closure that fetches the batch after these items; nil if they are the last ones.
  var rest: (() throws -> LazyAnswer<ItemBatch>)?

  nonisolated(nonsending) mutating func next() async throws -> Item? {
    // A batch can be empty, because objects that were removed in the meantime are skipped.
    while items.isEmpty, let rest { self = try await rest().get() }
    return items.popFirst()
  }
}
