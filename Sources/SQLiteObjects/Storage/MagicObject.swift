public import SQLiteMapping

/// A type whose values are objects in a ``MagicData`` store: a table, seen from Swift.
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
/// Structs and final classes may be objects. Copies of one object share its values: a change in one
/// is seen in all. Two fetches give two objects.
///
/// An `init` of a struct assigns without `self.init()` before it, which Swift 6.3.1 compiles wrongly;
/// declare the first value of a property with it: `@MagicValue var tags: [Tag] = []`. The value that a new
/// object has in a new property becomes the value of all older rows. It is read once: a random or present
/// value, such as `UUID()` or `Date()`, is the same for all of them.
///
/// A subclass is a type of its own, with a table of its own, and must encode its own properties.
///
/// The conformance to `Codable` is synthesized, and is how the store finds the properties. Properties
/// without a wrapper are left alone; they must be `Codable`, or be missing in `CodingKeys`. A type that leaves
/// out a property with a wrapper is refused.
public protocol MagicObject: Codable, SendableMetatype {
  /// The type of the primary values that calls take; any type that can be one unless declared. A value of
  /// another type than that of the `@PrimaryMagicValue` is an error, and with a declaration does not
  /// compile:
  ///
  ///     typealias PrimaryValue = String
  associatedtype PrimaryValue: Sendable = any MagicPrimaryValue

  /// The primary value itself. There is one for each ``PrimaryValue``; do not write others.
  static func primary(_ value: PrimaryValue) -> any MagicPrimaryValue

  /// Makes an object without values.
  ///
  /// The store calls it once to learn the type, and for each fetched object of a class, or of a struct with
  /// stored properties besides its wrappers. What it sets there does not reach the store. A struct that is
  /// nothing but wrappers is fetched without it.
  init()

  /// The name of the type's table; the unqualified name of the type unless declared.
  static var tableName: String { get }

  /// The traits of single properties: uniqueness, indexes, defaults, delete rules.
  ///
  ///     static var traits: [PropertyTrait] {
  ///       [.unique(\Self.$email), .indexed(\Self.$country, \Self.$name)]
  ///     }
  static var traits: [PropertyTrait] { get }
}

extension MagicObject where PrimaryValue: MagicPrimaryValue {
  /// The primary value itself.
  public static func primary(_ value: PrimaryValue) -> any MagicPrimaryValue { value }
}

extension MagicObject where PrimaryValue == any MagicPrimaryValue {
  /// The primary value itself.
  public static func primary(_ value: any MagicPrimaryValue) -> any MagicPrimaryValue { value }
}

extension MagicObject {
  /// The unqualified name of the type.
  public static var tableName: String { "\(Self.self)" }

  /// None.
  public static var traits: [PropertyTrait] { [] }
}
