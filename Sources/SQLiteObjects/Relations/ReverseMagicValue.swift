public import SQLiteCore
import SQLiteRelations

/// A reverse relation: the objects that reference this one through one of their properties.
///
///     struct Sub: MagicObject {
///       @MagicValue var text: String
///       @ReverseMagicValue(\TestModel.$set) var parents: AsyncReverseMagicSet<TestModel>
///       …
///     }
///
/// Nothing is stored for it, and you can't set it. Each call queries the other type's relation. In
/// a ``Filter``, write `$parents`, as in `(\Sub.$parents).isEmpty`. For a ``Query`` of the objects
/// that reference one object, write `sub.parents.where(…)`.
@propertyWrapper
@dynamicMemberLookup
public struct ReverseMagicValue<Owner: MagicObject>: MagicProperty, Sendable {
  /// The type of the wrapped property.
  public typealias Value = AsyncReverseMagicSet<Owner>

  /// The cell that references the object's storage. For internal use.
  public let cell: _MagicCell

  /// Creates the reverse of a relation of another type.
  ///
  /// - Parameters:
  ///   - path: The other type's property, such as `\TestModel.$set`. It must be a relation to the
  ///     declaring type. Using the reverse relation throws
  ///     ``MagicError/unsuitableType(type:reason:)`` if the property isn't a relation.
  ///   - type: The declaring type, for messages. The compiler passes it.
  ///   - line: The line of the declaration, for messages. The compiler passes it.
  public init<Property: MagicProperty & MagicColumn>(
    _ path: any KeyPath<Owner, Property> & Sendable, type: StaticString = #function,
    line: UInt32 = #line
  ) {
    cell = _MagicCell(type: type, line: line)
    // All objects of the type have the same path. Fetched objects use the one in the plan.
    cell.set(.live(_LiveValue(ReversePath<Owner> { KeyPathSlots<Owner>.slots(path) })))
  }

  /// Creates the property of a decoded object.
  fileprivate init(cell: _MagicCell) {
    self.cell = cell
  }

  /// The objects that reference this one. Accessing the property queries nothing; each call of one
  /// of the value's methods queries the store.
  public var wrappedValue: AsyncReverseMagicSet<Owner> {
    AsyncReverseMagicSet(of: cell)
  }

  /// The property itself, which key paths in a ``Filter`` or an expression access as `$parents`.
  public var projectedValue: ReverseMagicValue<Owner> { self }
}

extension ReverseMagicValue: SingleCellProperty {}

/// The relation that a ``ReverseMagicValue`` reverses, as a closure that returns the slots of
/// the relation property in `Owner`.
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
  /// The kind of the property, which is not stored. For internal use.
  public static var role: _PropertyRole { _PropertyRole(.reverse) }

  /// Returns an unset value, because the property is not stored. For internal use.
  ///
  /// - Parameter stored: Any stored value. It is ignored.
  public static func content(from stored: SQLiteCore.Value) -> _CellValue { _CellValue(.unset) }

  /// Returns NULL, because the property is not stored. For internal use.
  ///
  /// - Parameter live: Any value. It is ignored.
  public static func stored(_ live: _LiveValue) -> SQLiteCore.Value { .null }

  /// Creates the property of a decoded object without decoding anything. It is empty until the
  /// object is saved.
  ///
  /// - Parameter decoder: The decoder, from which nothing is read.
  public init(from decoder: any Decoder) {
    self.init(cell: _MagicCell(type: "a decoded object", line: 0))
  }

  /// Encodes null, because a reverse relation has no content outside the store. The encoder by
  /// which this library finds the properties of an object receives the property itself instead.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    if try PropertyCollector.take(self, encoder) { return }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// Creates the property of a decoded object without decoding anything, whether or not its key
  /// exists.
  ///
  /// - Parameters:
  ///   - type: The type of the property.
  ///   - key: The key of the property. It is ignored.
  /// - Returns: A property that is empty until the object is saved.
  /// - Throws: No error. Synthesized code calls all `decode` methods with `try`.
  public func decode<Owner>(
    _ type: ReverseMagicValue<Owner>.Type, forKey key: Key
  ) throws -> ReverseMagicValue<Owner> {
    ReverseMagicValue(cell: _MagicCell(type: "a decoded object", line: 0))
  }
}

/// The objects that reference one object through a relation. Each call queries the store.
///
///     for try await model in sub.parents { … }
///
/// It contains each object once, ordered by row key, which is usually the order in which the
/// objects were first saved. It is empty for an object that was never saved. It also starts
/// queries, such as `sub.parents.where(…)`.
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
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/restored(type:)`` if its contents have been replaced since this object was
  ///   fetched; or `SQLiteError`.
  public func count() throws -> Int {
    guard let owners = try owners() else { return 0 }
    return try owners.found(isOneStatement: true) { try owners.count($0) }.count
  }

  /// Returns the number of objects without fetching them, suspending the task.
  ///
  /// For details, see the blocking ``count()``.
  ///
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func count() async throws -> Int {
    guard let owners = try owners() else { return 0 }
    return try await owners.found(isOneStatement: true) { try owners.count($0) }.count
  }

  /// Fetches the objects, blocking the thread.
  ///
  /// For a filter, another order or some of the objects, fetch `sub.parents.where(…)`.
  ///
  /// - Returns: The objects, ordered by row key, which is usually the order in which they were
  ///   first saved. The array is empty if this object was never saved.
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/restored(type:)`` if its contents have been replaced since this object was
  ///   fetched; or `SQLiteError`.
  public func get() throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    return try owners.objects(of: Owner.self, owners.objects())
  }

  /// Fetches the objects, suspending the task.
  ///
  /// For details, see the blocking ``get()``.
  ///
  /// - Returns: The objects, ordered by row key, which is usually the order in which they were
  ///   first saved. The array is empty if this object was never saved.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func get() async throws -> [Owner] {
    guard let owners = try owners() else { return [] }
    return try owners.objects(of: Owner.self, await owners.objects())
  }

  /// Returns a reference to the objects in the store, or nil if this object was never saved.
  ///
  /// - Throws: ``MagicError/restored(type:)`` if the store's contents have been replaced since this
  ///   object was fetched, or ``MagicError/closed`` if the store was released.
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
  /// Creates an empty set from the literal `[]`, as for an object that was never saved.
  ///
  /// - Parameter elements: No elements. A literal with objects doesn't compile, because it can't
  ///   create relations.
  public init(arrayLiteral elements: Never...) {
    let cell = _MagicCell(type: "an empty set", line: 0)
    self.init(of: cell)
  }
}

extension AsyncReverseMagicSet: AsyncSequence {
  /// An iterator over the objects, which fetches them in batches of 500.
  ///
  /// Only one batch is in memory at a time, however many objects there are. Each batch is read from
  /// a separate snapshot, so later batches reflect changes that were committed in the meantime.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var batch: ItemBatch<Owner>

    /// Returns the next object, or nil after the last one.
    ///
    /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed,
    ///   `SQLiteError`, or `CancellationError` if the task was cancelled.
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

  /// Returns an iterator that starts at the first object.
  public func makeAsyncIterator() -> Iterator {
    Iterator(batch: ItemBatch { try owners(after: nil) })
  }
}

extension AsyncReverseMagicSet: Codable {
  /// Always throws, because a reverse relation has no content outside the store.
  ///
  /// - Parameter decoder: The decoder, from which nothing is read.
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath,
        debugDescription: "a reverse relation cannot be decoded: it is fetched from the store"))
  }

  /// Encodes null, because a reverse relation has no content outside the store.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

// Use in queries.
extension ReverseMagicValue: MagicColumn {
  /// The type of the property's value.
  public typealias Element = AsyncReverseMagicSet<Owner>
  /// The path to the property in a query. For internal use.
  public var route: _ColumnRoute { _ColumnRoute(cell) }
  /// Throws in all cases, because no column contains the objects. For internal use.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` with `ResultCode.mismatch`.
  public static func value(
    from stored: SQLiteCore.Value
  ) throws -> AsyncReverseMagicSet<Owner> {
    throw SQLiteError(.mismatch, "the objects of a reverse relation are not stored in a column")
  }
}

extension AsyncReverseMagicSet: MagicRelation {
  /// The type of the related objects.
  public typealias Target = Owner
}
