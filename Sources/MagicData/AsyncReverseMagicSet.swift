import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// The objects whose relation leads to one object, looked up when they are asked for.
///
///     for try await model in sub.parents { … }
///
/// Empty for an object that was never saved.
public struct AsyncReverseMagicSet<Owner: MagicObject>: Sendable {
  private let cell: MagicCell
  private let find: @Sendable (Owner) -> MagicCell

  init(of cell: MagicCell, through find: @escaping @Sendable (Owner) -> MagicCell) {
    self.cell = cell
    self.find = find
  }

  /// The number of objects, looked up now, blocking the thread.
  public var count: Int {
    get throws {
      guard let source = try source() else { return 0 }
      return try source.store.database.read { try source.zIndexes($0) }.count
    }
  }

  /// Fetches the objects, blocking the thread.
  ///
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func get() throws -> [Owner] {
    guard let source = try source() else { return [] }
    let graph = try source.store.database.read { try source.load($0) }
    return try FetchContext(store: source.store, graph).objects(of: Owner.self)
  }

  /// Fetches the objects, suspending the task.
  ///
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func get() async throws -> [Owner] {
    guard let source = try source() else { return [] }
    let graph = try await source.store.database.read { try source.load($0) }
    return try FetchContext(store: source.store, graph).objects(of: Owner.self)
  }

  private func source() throws -> ReverseSource<Owner>? {
    guard let identity = cell.place?.storage.lastIdentity else { return nil }
    let plan = try identity.magic.plan(Owner.self)
    let prototype = Owner()
    let wanted = find(prototype)
    let entries = try PropertyCollector.entries(of: prototype)
    guard let slot = entries.firstIndex(where: { $0.cell === wanted }) else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "a reverse value names something that is no property")
    }
    return ReverseSource(
      store: identity.magic, plan: plan, slot: slot, target: identity.zIndex)
  }
}

extension AsyncReverseMagicSet: AsyncSequence {
  /// The objects one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let set: AsyncReverseMagicSet
    private var owners: [Owner]?
    private var next = 0

    fileprivate init(_ set: AsyncReverseMagicSet) {
      self.set = set
    }

    /// The next object, or nil.
    nonisolated(nonsending) public mutating func next() async throws -> Owner? {
      let owners = if let owners { owners } else { try await set.get() }
      self.owners = owners
      guard next < owners.count else { return nil }
      defer { next += 1 }
      return owners[next]
    }
  }

  /// Starts anew.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

extension AsyncReverseMagicSet: Codable {
  /// Always throws: a reverse value is no content.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath,
        debugDescription: "a reverse value has no content outside the store"))
  }

  /// Writes null: a reverse value is no content.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

/// Where the owners of a relation to one object are to be found.
private struct ReverseSource<Owner: MagicObject>: Sendable {
  let store: MagicData
  let plan: ObjectPlan
  let slot: Int
  let target: Int64

  func zIndexes(_ connection: Connection) throws -> [Int64] {
    guard try !connection.columnNames(of: plan.table).isEmpty else { return [] }
    if let table = try plan.linkTable(slot, store.plan) {
      return try connection.owners(table, of: target)
    }
    return try connection.rows(
      "SELECT \(identifier: plan.key) FROM \(identifier: plan.table) WHERE \(identifier: plan.properties[slot].name) = \(target) ORDER BY 1",
      as: Int64.self)
  }

  func load(_ connection: Connection) throws -> FetchedGraph {
    let loader = GraphLoader(store, connection)
    let zIndexes = try zIndexes(connection)
    if !zIndexes.isEmpty {
      try loader.load(
        Owner.self,
        tail: "WHERE \(identifier: plan.key) IN \(zIndexes) ORDER BY \(identifier: plan.key)")
    }
    return loader.graph
  }
}
