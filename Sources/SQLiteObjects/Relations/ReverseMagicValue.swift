public import SQLiteCore
import SQLiteRelations

/// The objects that reference this one by a property.
///
///     struct Sub: MagicObject {
///       @MagicValue var text: String
///       @ReverseMagicValue(\TestModel.$set) var parents: AsyncReverseMagicSet<TestModel>
///       …
///     }
///
/// Nothing is stored for it, and it can't be set: each call queries the other type's relation. In a ``Filter``, write
/// `$parents`, as in `(\Sub.$parents).isEmpty`. For a ``Query`` of one object's references, write `sub.parents.where(…)`.
@propertyWrapper
@dynamicMemberLookup
public struct ReverseMagicValue<Owner: MagicObject>: MagicProperty, Sendable {
  /// The type of the property.
  public typealias Value = AsyncReverseMagicSet<Owner>

  /// The cell by which the storage of the object is found. Opaque.
  public let cell: _MagicCell

  /// Names the other type's relation.
  ///
  /// - Parameters:
  ///   - path: The relation, such as `\TestModel.$set`.
  ///   - type: Given by the compiler, for messages.
  ///   - line: Given by the compiler, for messages.
  public init<Property: MagicProperty & MagicColumn>(
    _ path: any KeyPath<Owner, Property> & Sendable, type: StaticString = #function,
    line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    // All objects of the type have the same: what is fetched takes it from the plan.
    cell.set(.live(_LiveValue(ReversePath<Owner> { Prototype<Owner>.slots(path) })))
  }

  /// Leads nowhere: no object has the cell.
  fileprivate init(cell: _MagicCell) {
    self.cell = cell
  }

  /// The objects that reference this one. Each access queries the store.
  public var wrappedValue: AsyncReverseMagicSet<Owner> {
    AsyncReverseMagicSet(of: cell)
  }

  /// The property itself, for a ``Filter``.
  public var projectedValue: ReverseMagicValue<Owner> { self }
}

extension ReverseMagicValue: SingleCellProperty {}

/// The relation that a reverse value names, by a property of an owner.
final class ReversePath<Owner: MagicObject>: Sendable {
  private let slots: @Sendable () -> [Int]?

  init(_ slots: @escaping @Sendable () -> [Int]?) {
    self.slots = slots
  }
}

extension ReversePath: ReverseRelation {
  func property(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> (owner: ObjectPlan, slot: Int) {
    let plan = try plans(Owner.self)
    guard let slots = slots(), slots.count == 1, plan.properties[slots[0]].isRelation else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "a @ReverseMagicValue names a property that is not a relation")
    }
    return (plan, slots[0])
  }
}

extension ReverseMagicValue {
  /// The role of the property in its table.
  public static var role: _PropertyRole { _PropertyRole(.reverse) }

  /// Nothing is stored.
  public static func content(from stored: SQLiteCore.Value) -> _CellValue { _CellValue(.unset) }

  /// Nothing is stored.
  public static func stored(_ live: _LiveValue) -> SQLiteCore.Value { .null }

  /// Makes a value that leads nowhere: a decoded object has its owners once it was fetched.
  public init(from decoder: any Decoder) {
    self.init(cell: _MagicCell(type: "a decoded object", line: 0))
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
    ReverseMagicValue(cell: _MagicCell(type: "a decoded object", line: 0))
  }
}

/// The objects that reference one object. Each call queries the store.
///
///     for try await model in sub.parents { … }
///
/// It contains each object once, in the order in which they were first saved, and is empty for an object that was never
/// saved. It also starts queries, such as `sub.parents.where(…)`.
public struct AsyncReverseMagicSet<Owner: MagicObject>: Sendable {
  let cell: _MagicCell

  init(of cell: _MagicCell) {
    self.cell = cell
  }

  /// Returns the number of objects without fetching them, blocking the thread.
  ///
  ///     let number = try sub.parents.count()
  ///
  /// To count objects that match a filter, fetch `sub.parents.where(…).count`.
  ///
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func count() throws -> Int {
    guard let owners = try owners() else { return 0 }
    return try owners.found(isOneStatement: true) { try owners.count($0) }.count
  }

  /// The suspending form of ``count()``.
  nonisolated(nonsending) public func count() async throws -> Int {
    guard let owners = try owners() else { return 0 }
    return try await owners.found(isOneStatement: true) { try owners.count($0) }.count
  }

  /// Fetches the objects, blocking the thread.
  ///
  /// For a filter, an order or a part of the objects, fetch `sub.parents.where(…)`.
  ///
  /// - Returns: The objects in the order in which they were first saved; none if this object was never saved.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func get() throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    return try owners.objects(of: Owner.self, owners.objects())
  }

  /// The suspending form of ``get()``.
  nonisolated(nonsending) public func get() async throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    return try owners.objects(of: Owner.self, await owners.objects())
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
    let relation = try store.relation(of: address.storage.shape, address.slot)
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
    let cell = _MagicCell(type: "an empty set", line: 0)
    self.init(of: cell)
  }
}

extension AsyncReverseMagicSet: AsyncSequence {
  /// The objects one after the other, fetched in batches.
  ///
  /// Takes the memory of one batch, however many objects there are. Each batch is a snapshot of its
  /// own.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var batch: ItemBatch<Owner>

    /// The next object, or nil.
    ///
    /// - Throws: ``MagicError``, `SQLiteError` or `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> Owner? {
      try await batch.next()
    }
  }

  private func owners(after last: Int64?) throws -> LazyAnswer<ItemBatch<Owner>> {
    guard let owners = try owners() else { return .known(ItemBatch()) }
    let page = Relation.Page(after: last.map { .integer($0) }, limit: 500)
    return owners.request(isOneStatement: owners.areOneStatement) {
      try owners.objects($0, page)
    } then: { found in
      let order = found.fetched.zIndexes(Owner.self)
      let items = try owners.objects(of: Owner.self, found)[...]
      guard order.count == page.limit else { return .known(ItemBatch(items: items)) }
      return .known(ItemBatch(items: items) { try self.owners(after: order.last) })
    }
  }

  /// Starts at the first object.
  public func makeAsyncIterator() -> Iterator {
    Iterator(batch: ItemBatch { try owners(after: nil) })
  }
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
  /// The objects that reference this one.
  public typealias Element = AsyncReverseMagicSet<Owner>
  /// The path to the property.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Always throws: the objects are in no column.
  public static func value(
    from stored: SQLiteCore.Value
  ) throws -> AsyncReverseMagicSet<Owner> {
    throw SQLiteError(.mismatch, "the objects of a reverse value are in no column")
  }
}

extension AsyncReverseMagicSet: MagicRelation {
  /// The type of the objects.
  public typealias Target = Owner
}
