import SQLiteCore
import SQLiteRelations

/// The objects whose relation leads to one object, looked up when they are asked for.
///
///     for try await model in sub.parents { … }
///
/// Each object once, in the order in which they were first saved. Empty for an object that was never
/// saved.
public struct AsyncReverseMagicSet<Owner: MagicObject>: Sendable {
  private let cell: MagicCell

  init(of cell: MagicCell) {
    self.cell = cell
  }

  /// Counts the objects in the database, all or some, without fetching them, blocking the thread.
  ///
  ///     let number = try sub.parents.count()
  ///
  /// - Parameter filter: What the objects to count have in common.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func count(where filter: Filter<Owner>? = nil) throws -> Int {
    guard let source = try source() else { return 0 }
    let condition = try source.store.condition(filter)
    return try source.count(where: condition)
  }

  /// As the blocking ``count(where:)``, suspending the task.
  ///
  /// - Parameter filter: What the objects to count have in common.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func count(
    where filter: Filter<Owner>? = nil
  ) async throws -> Int {
    guard let source = try source() else { return 0 }
    let condition = try source.store.condition(filter)
    return try await source.count(where: condition)
  }

  /// Fetches the objects, all or some, blocking the thread.
  ///
  /// - Parameters:
  ///   - filter: What the objects have in common.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func get(
    where filter: Filter<Owner>? = nil, limit: Int? = nil, offset: Int = 0
  ) throws -> [Owner] {
    guard let source = try source() else { return [] }
    let page = ReverseSource<Owner>.Page(
      condition: try source.store.condition(filter), limit: limit, offset: offset)
    return try source.objects(try source.load(page))
  }

  /// As the blocking ``get(where:limit:offset:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - filter: What the objects have in common.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func get(
    where filter: Filter<Owner>? = nil, limit: Int? = nil, offset: Int = 0
  ) async throws -> [Owner] {
    guard let source = try source() else { return [] }
    let page = ReverseSource<Owner>.Page(
      condition: try source.store.condition(filter), limit: limit, offset: offset)
    return try source.objects(try await source.load(page))
  }

  /// Where the objects are, or nil if this one was never saved.
  fileprivate func source() throws -> ReverseSource<Owner>? {
    guard let place = cell.place, let identity = place.storage.lastIdentity else { return nil }
    guard identity.isCurrent else {
      throw MagicError.restored(type: place.storage.plan.typeName)
    }
    let store = identity.magic
    let key = PropertyKey(type: ObjectIdentifier(place.storage.plan.type), slot: place.slot)
    let relation = try store.tables.reverse(key) {
      let plan = try store.plan(Owner.self)
      let prototype = Owner()
      let path = place.storage.plan.properties[place.slot].reverse?.value as? ReversePath<Owner>
      let wanted = path?.cell(prototype)
      let entries = try PropertyCollector.entries(of: prototype)
      guard let slot = entries.firstIndex(where: { $0.cell == wanted }),
        plan.properties[slot].isRelation
      else {
        throw MagicError.unsuitableType(
          type: plan.typeName, reason: "a reverse value names something that is no relation")
      }
      return try store.tables.relation(plan, slot, store)
    }
    return ReverseSource(store: store, relation: relation, target: identity.zIndex)
  }
}

extension AsyncReverseMagicSet: ExpressibleByArrayLiteral {
  /// Makes the set of an object that was never saved: `[]`.
  ///
  /// - Parameter elements: None. A literal with objects does not compile, since they would be in no
  ///   relation.
  public init(arrayLiteral elements: Never...) {
    let cell = MagicCell(type: "an empty set", line: 0)
    self.init(of: cell)
  }
}

extension AsyncReverseMagicSet: AsyncSequence {
  /// The objects one after the other, fetched in batches.
  ///
  /// Takes the memory of one batch, however many objects there are. Each batch is a snapshot of its
  /// own.
  public struct Iterator: AsyncIteratorProtocol {
    private static var batch: Int { 500 }

    private let set: AsyncReverseMagicSet
    private var owners: ArraySlice<Owner> = []
    private var last: Int64?
    private var isAtEnd = false

    fileprivate init(_ set: AsyncReverseMagicSet) {
      self.set = set
    }

    /// The next object, or nil.
    ///
    /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> Owner? {
      if owners.isEmpty, !isAtEnd, let source = try set.source() {
        let page = ReverseSource<Owner>.Page(last: last, limit: Iterator.batch)
        let fetched = try await source.load(page)
        let order = fetched.zIndexes(Owner.self)
        last = order.last
        isAtEnd = order.count < Iterator.batch
        owners = try source.objects(fetched)[...]
      }
      return owners.popFirst()
    }
  }

  /// Starts at the first object.
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
