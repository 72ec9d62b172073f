public import SQLiteCore

/// The objects whose property leads to this one.
///
///     struct Sub: MagicObject {
///       @MagicValue var text: String
///       @ReverseMagicValue(\TestModel.$set) var parents: AsyncReverseMagicSet<TestModel>
///       …
///     }
///
/// Nothing is stored for it, and it cannot be set: it is looked up in the other type's relation.
@propertyWrapper
public struct ReverseMagicValue<Owner: MagicObject>: MagicProperty, Sendable {
  /// The type of the property.
  public typealias Value = AsyncReverseMagicSet<Owner>

  /// Where the object's storage is found. Opaque.
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
}

/// The relation that a reverse value names, as a cell of an owner.
final class ReversePath<Owner: MagicObject>: Sendable {
  let cell: @Sendable (Owner) -> MagicCell

  init(_ cell: @escaping @Sendable (Owner) -> MagicCell) {
    self.cell = cell
  }
}

extension ReverseMagicValue {
  /// What the property is to its table.
  public static var role: PropertyRole { PropertyRole(.reverse) }

  /// Nothing is stored.
  public static func content(from stored: SQLiteCore.Value) -> CellContent { CellContent(.unset) }

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
