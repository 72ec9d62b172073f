public import Essentials

/// A type of primary values, which identify the objects of a type.
public protocol MagicPrimaryValue: Codable, Hashable, Sendable {
  /// A unique value for a new object, or nil if there is none. For `Int`, the database then assigns
  /// the value. For other types, you must set it before the first save.
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
