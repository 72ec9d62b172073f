public import SQLiteMapping

/// A type whose values are objects in a ``MagicData`` store: a table, seen from Swift.
///
///     struct Person: MagicObject {
///       @PrimaryMagicValue var id: String
///       @MagicValue var name: String
///       @OptionMagicValue var age: Int?
///
///       init() {}
///       init(name: String) { self.name = name }
///     }
///
/// Structs and final classes may be objects. Copies of one object share its values: a change in one
/// is seen in all. Two fetches give two objects.
///
/// The conformance to `Codable` is synthesized, and is how the store finds the properties. Properties
/// without a wrapper are left alone; they must be `Codable`, or be missing in `CodingKeys`.
public protocol MagicObject: Codable, SendableMetatype {
  /// Makes an object without values.
  init()

  /// The name of the type's table; the unqualified name of the type unless declared.
  static var tableName: String { get }

  /// What is to be known of single properties: uniqueness, indexes, delete rules, full-text search.
  ///
  ///     static var traits: [PropertyTrait] {
  ///       [.unique(\Self.$email), .indexed(\Self.$country, \Self.$name)]
  ///     }
  static var traits: [PropertyTrait] { get }
}

extension MagicObject {
  /// The unqualified name of the type.
  public static var tableName: String { "\(Self.self)" }

  /// None.
  public static var traits: [PropertyTrait] { [] }
}
