/// A ``Record`` whose stored properties are read and written in place, without its coding.
///
///     struct City: DirectRecord {
///       static let prototype: City? = City(id: 0, name: "", population: nil)
///       static var directColumns: [DirectColumn<City>] {
///         [.init("id", \.id), .init("name", \.name), .init("population", \.population)]
///       }
///       var id: Int
///       var name: String
///       var population: Int?
///     }
///
/// By the declaration you promise that `init(from:)` and `encode(to:)` do what the compiler's own
/// would: one column for each property, no validation, nothing derived. A type that checks its
/// values in `init(from:)` must not conform: a row from elsewhere would pass unchecked.
///
/// What can be proven of that is proven when a connection meets the type first, and
/// ``DirectRecordError`` says what could not: every property has its column; each is stored in place
/// in a structure, without observers; changing one changes what one column stores, and nothing else;
/// and `init(from:)` gives back what was stored, for the prototype and for other values of each
/// property. Thereafter the first, second, fourth, eighth … row of each query and of each bulk write
/// is coded both ways, and must come out the same.
///
/// A row that is not as expected, such as an integer in a column of reals, is read by `init(from:)`.
public protocol DirectRecord: Record {
  /// All properties, in any order.
  static var directColumns: [DirectColumn<Self>] { get }
}

/// Why a type cannot be a ``DirectRecord``.
public struct DirectRecordError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The type.
  public let type: String
  /// The property, or nil if it is not about one.
  public let property: String?
  /// What was not proven, in English.
  public let message: String

  /// The type, the property and what was not proven.
  public var description: String {
    "\(([type] + (property.map { [$0] } ?? [])).joined(separator: ".")) cannot be coded in place: "
      + message
  }
}
