public import SQLiteMapping

/// A type of objects in a ``MagicData`` store, which has one table for each type.
///
///     struct Person: MagicObject {
///       @PrimaryMagicValue var id: String
///       @MagicValue var name: String
///       @OptionalMagicValue var age: Int?
///
///       init() {}
///       init(name: String) { self.name = name }
///     }
///
/// Use a struct or a final class. Copies of an object share its values: a change of one copy is
/// visible in all of them. Two fetches of the same row return two independent objects.
///
/// In the initializer of a struct, don't call `self.init()` before you assign properties, because
/// Swift 6.3.1 miscompiles that. Declare initial values with the properties instead:
/// `@MagicValue var tags: [Tag] = []`.
///
/// If you add a property to a type, existing rows get the value that the property has in a new
/// object. The store evaluates this value once. A random or current value, such as `UUID()` or
/// `Date()`, is therefore the same in all of these rows.
///
/// A subclass is a separate type with its own table, and must encode its own properties.
///
/// The store finds the properties through the synthesized conformance to `Codable`. It ignores
/// properties without a wrapper. They must be `Codable`, or be omitted from `CodingKeys`. If a type
/// doesn't encode a property with a wrapper, its first use throws
/// ``MagicError/unsuitableType(type:reason:)``.
public protocol MagicObject: Codable, SendableMetatype {
  /// The type of the primary values that methods such as `object(of:primary:)` accept.
  ///
  /// By default, they accept every type of primary value, and throw an error for a type other than
  /// that of the `@PrimaryMagicValue`. If you declare the type, the compiler rejects other types:
  ///
  ///     typealias PrimaryValue = String
  associatedtype PrimaryValue: Sendable = any MagicPrimaryValue

  /// Converts a primary value to the type that the store uses, by returning `value` itself.
  ///
  /// The library implements this requirement for each ``PrimaryValue``. Don't implement it.
  ///
  /// - Parameter value: A primary value.
  /// - Returns: The same value as an existential.
  static func primary(_ value: PrimaryValue) -> any MagicPrimaryValue

  /// Creates an object without values.
  ///
  /// The store calls this initializer once to inspect the type. It also calls it for each fetched
  /// object of a class, or of a struct with stored properties other than its wrappers, and discards
  /// the values that it assigns to wrappers. Structs that contain only wrappers are fetched without
  /// it.
  init()

  /// The name of the type's table. By default, it is the unqualified name of the type.
  static var tableName: String { get }

  /// The traits of the type's properties: uniqueness, indexes, full-text search, default values and
  /// delete rules. By default, there are none.
  ///
  ///     static var traits: [PropertyTrait] {
  ///       [.unique(\Self.$email), .indexed(\Self.$country, \Self.$name)]
  ///     }
  static var traits: [PropertyTrait] { get }
}

extension MagicObject where PrimaryValue: MagicPrimaryValue {
  /// Converts a primary value to the type that the store uses, by returning `value` itself.
  ///
  /// - Parameter value: A primary value.
  /// - Returns: The same value as an existential.
  public static func primary(_ value: PrimaryValue) -> any MagicPrimaryValue { value }
}

extension MagicObject where PrimaryValue == any MagicPrimaryValue {
  /// Returns `value` itself, which already has the type that the store uses.
  ///
  /// - Parameter value: A primary value.
  /// - Returns: The same value.
  public static func primary(_ value: any MagicPrimaryValue) -> any MagicPrimaryValue { value }
}

extension MagicObject {
  /// The unqualified name of the type.
  public static var tableName: String { "\(Self.self)" }

  /// An empty array: the type has no traits.
  public static var traits: [PropertyTrait] { [] }
}
