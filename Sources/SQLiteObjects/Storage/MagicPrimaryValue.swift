public import Essentials

/// A type of primary values, by which objects are told apart.
public protocol MagicPrimaryValue: Codable, Hashable, Sendable {
  /// A value of its own for a new object, or nil if the database counts it up.
  static var fresh: Self? { get }
}

extension String: MagicPrimaryValue {
  /// A new UUID as text.
  public static var fresh: String? { UUID().uuidString }
}

extension UUID: MagicPrimaryValue {
  /// A new UUID.
  public static var fresh: UUID? { UUID() }
}

extension Int: MagicPrimaryValue {
  /// Nil: the database counts up, and hands the number to the object when it is saved.
  public static var fresh: Int? { nil }
}
