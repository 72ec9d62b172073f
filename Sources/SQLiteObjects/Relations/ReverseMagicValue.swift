public import SQLiteCore
import SQLiteRelations

/// The objects whose property leads to this one.
///
///     struct Sub: MagicObject {
///       @MagicValue var text: String
///       @ReverseMagicValue(\TestModel.$set) var parents: AsyncReverseMagicSet<TestModel>
///       …
///     }
///
/// Nothing is stored for it, and it cannot be set: it is looked up in the other type's relation.
/// `$parents` stands for the objects in a ``Filter``: `(\Sub.$parents).isEmpty`.
@propertyWrapper
@dynamicMemberLookup
public struct ReverseMagicValue<Owner: MagicObject>: MagicProperty, Sendable {
  /// The type of the property.
  public typealias Value = AsyncReverseMagicSet<Owner>

  /// The cell by which the storage of the object is found. Opaque.
  public let cell: MagicCell

  /// Names the other type's relation.
  ///
  /// - Parameters:
  ///   - path: The relation, such as `\TestModel.$set`.
  ///   - type: Given by the compiler, for messages.
  ///   - line: Given by the compiler, for messages.
  public init<Property: MagicProperty>(
    _ path: any KeyPath<Owner, Property> & Sendable, type: StaticString = #function,
    line: UInt32 = #line
  ) {
    cell = MagicCell(type: type, line: line)
    // All objects of the type have the same: what is fetched takes it from the plan.
    cell.set(.live(LiveValue(ReversePath<Owner> { $0[keyPath: path].cell })))
  }

  /// Leads nowhere: no object has the cell.
  fileprivate init(cell: MagicCell) {
    self.cell = cell
  }

  /// The objects that lead here, as of each moment that they are asked for.
  public var wrappedValue: AsyncReverseMagicSet<Owner> {
    AsyncReverseMagicSet(of: cell)
  }

  /// The property itself, for a ``Filter``.
  public var projectedValue: ReverseMagicValue<Owner> { self }
}

extension ReverseMagicValue: SingleCellProperty {}

/// The relation that a reverse value names, as a cell of an owner.
final class ReversePath<Owner: MagicObject>: Sendable {
  let cell: @Sendable (Owner) -> MagicCell

  init(_ cell: @escaping @Sendable (Owner) -> MagicCell) {
    self.cell = cell
  }
}

extension ReversePath: ReverseRelation {
  func relation(in store: any ObjectStore) throws -> ObjectRelation {
    let plan = try store.plan(Owner.self)
    let prototype = Owner()
    let wanted = cell(prototype)
    let entries = try PropertyCollector.entries(of: prototype)
    guard let slot = entries.firstIndex(where: { $0.cell == wanted }),
      plan.properties[slot].isRelation
    else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "a @ReverseMagicValue names a property that is not a relation")
    }
    return try store.relations.relation(plan, slot, isReversed: true, in: store)
  }
}

extension ReverseMagicValue {
  /// The role of the property in its table.
  public static var role: PropertyRole { PropertyRole(.reverse) }

  /// Nothing is stored.
  public static func content(from stored: SQLiteCore.Value) -> CellValue { CellValue(.unset) }

  /// Nothing is stored.
  public static func stored(_ live: LiveValue) -> SQLiteCore.Value { .null }

  /// Makes a value that leads nowhere: a decoded object has its owners once it was fetched.
  public init(from decoder: any Decoder) {
    self.init(cell: MagicCell(type: "a decoded object", line: 0))
  }

  /// Writes null: a reverse value has no content outside the store.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// Reads nothing, whether there is something or not.
  public func decode<Owner>(
    _ type: ReverseMagicValue<Owner>.Type, forKey key: Key
  ) throws -> ReverseMagicValue<Owner> {
    ReverseMagicValue(cell: MagicCell(type: "a decoded object", line: 0))
  }
}

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
  /// - Parameter filter: The condition on the objects to count; nil for all.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func count(where filter: Filter<Owner>? = nil) throws -> Int {
    guard let owners = try owners() else { return 0 }
    return try owners.answer(.count(where: owners.condition(filter))).count
  }

  /// As ``count(where:)``, without blocking the task.
  nonisolated(nonsending) public func count(
    where filter: Filter<Owner>? = nil
  ) async throws -> Int {
    guard let owners = try owners() else { return 0 }
    let condition = try await owners.store.making { try owners.condition(filter) }
    return try await owners.answer(.count(where: condition)).count
  }

  /// Fetches the objects, all or some, blocking the thread.
  ///
  /// - Parameters:
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The sort keys, the most significant first; without any, in the order in which they were first
  ///     saved.
  ///   - limit: The most objects to fetch.
  ///   - offset: The number of objects to pass over first.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func get(
    where filter: Filter<Owner>? = nil, orderedBy order: [SortKey<Owner>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    let page = try owners.page(where: filter, orderedBy: order, limit: limit, offset: offset)
    return try owners.objects(of: Owner.self, owners.answer(.objects(page)))
  }

  /// As ``get(where:orderedBy:limit:offset:)``, without blocking the task.
  nonisolated(nonsending) public func get(
    where filter: Filter<Owner>? = nil, orderedBy order: [SortKey<Owner>] = [],
    limit: Int? = nil, offset: Int = 0
  ) async throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    let page = try await owners.store.making {
      try owners.page(where: filter, orderedBy: order, limit: limit, offset: offset)
    }
    return try owners.objects(of: Owner.self, await owners.answer(.objects(page)))
  }

  /// Fetches a page of the objects as `MagicData.page(of:after:where:orderedBy:limit:)` does, blocking the
  /// thread.
  ///
  /// - Parameters:
  ///   - position: The ``ObjectPage/end`` of the page before, or nil for the first page.
  ///   - filter: The condition on the objects, the same for all pages.
  ///   - order: The sort keys, the most significant first, the same for all pages.
  ///   - limit: The most objects to fetch, at least 1.
  /// - Throws: As `MagicData.page(of:after:where:orderedBy:limit:)`; ``MagicError/notSaved(type:)`` if this
  ///   object was never saved.
  public func page(
    after position: PagePosition<Owner>? = nil, where filter: Filter<Owner>? = nil,
    orderedBy order: [SortKey<Owner>] = [], limit: Int
  ) throws -> ObjectPage<Owner> {
    guard let owners = try owners() else { throw MagicError.notSaved(type: "\(Owner.self)") }
    return try owners.page(
      PageQuery(owners.store, after: position, filter, order, limit: limit))
  }

  /// As ``page(after:where:orderedBy:limit:)``, without blocking the task.
  nonisolated(nonsending) public func page(
    after position: PagePosition<Owner>? = nil, where filter: Filter<Owner>? = nil,
    orderedBy order: [SortKey<Owner>] = [], limit: Int
  ) async throws -> ObjectPage<Owner> {
    guard let owners = try owners() else { throw MagicError.notSaved(type: "\(Owner.self)") }
    let query = try await owners.store.making {
      try PageQuery(owners.store, after: position, filter, order, limit: limit)
    }
    return try await owners.page(query)
  }

  /// The objects in the store, or nil if this one was never saved.
  fileprivate func owners() throws -> RelatedObjects? {
    guard let address = cell.address, let identity = address.storage.lastIdentity else {
      return nil
    }
    guard identity.isCurrent else {
      throw MagicError.restored(type: address.storage.shape.typeName)
    }
    let store = try identity.content.store
    let relation = try store.relations.reverse(of: address.storage.shape, address.slot, in: store)
    return RelatedObjects(
      store: store, relation: relation, zIndex: identity.zIndex,
      generation: identity.content.generation)
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
    /// - Throws: ``MagicError``, `SQLiteError` or `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> Owner? {
      if owners.isEmpty, !isAtEnd, let source = try set.owners() {
        let page = Relation.Page(after: last.map { .integer($0) }, limit: Iterator.batch)
        let answer = try await source.answer(.objects(page))
        let order = answer.fetched.zIndexes(Owner.self)
        last = order.last
        isAtEnd = order.count < Iterator.batch
        owners = try source.objects(of: Owner.self, answer)[...]
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
        debugDescription: "a reverse value cannot be decoded: it is looked up in the store"))
  }

  /// Writes null: a reverse value is no content.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

// In queries.
extension ReverseMagicValue: MagicColumn {
  /// The objects that lead here.
  public typealias Element = AsyncReverseMagicSet<Owner>
  /// The properties that lead there.
  public var route: ColumnRoute { ColumnRoute(cell) }
  /// Always throws: the objects are in no column.
  public static func value(
    from stored: SQLiteCore.Value
  ) throws -> AsyncReverseMagicSet<Owner> {
    throw SQLiteError(.mismatch, "the objects of a reverse value are in no column")
  }
}

extension ReverseMagicValue {
  /// All objects that a relation of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Owner, Next>
  ) -> RelatedCollection<Next.Element.Target> where Next.Element: MagicRelation {
    RelatedCollection(behind: route, path)
  }

  /// The objects that a reference of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Owner, Next>
  ) -> RelatedCollection<Next.Element> where Next.Element: MagicObject {
    RelatedCollection(behind: route, path)
  }

  /// The objects that a lazy reference of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Owner, Next>
  ) -> RelatedCollection<Object> where Next.Element == AsyncMagical<Object> {
    RelatedCollection(behind: route, path)
  }
}

extension AsyncReverseMagicSet: MagicRelation {
  /// The type of the objects.
  public typealias Target = Owner
}
