public import Essentials

/// A type that a ``PrimaryMagicValue`` property can have. Its values are keys: each identifies one
/// object among the objects of a ``MagicObject`` type.
///
/// `Int`, `String` and `UUID` conform. To use another type for keys, conform it to this protocol.
public protocol MagicPrimaryValue: Codable, Hashable, Sendable {
  /// A unique value for a new object, or nil if the type doesn't generate values. For `Int`, the
  /// database assigns the value instead. For any other type without generated values, you must set
  /// the value before the first save.
  static var fresh: Self? { get }
}

extension String: MagicPrimaryValue {
  /// A new UUID in text form; never nil.
  public static var fresh: String? { UUID().uuidString }
}

extension UUID: MagicPrimaryValue {
  /// A new UUID; never nil.
  public static var fresh: UUID? { UUID() }
}

extension Int: MagicPrimaryValue {
  /// Always nil: the database assigns the next number when the object is saved.
  public static var fresh: Int? { nil }
}
