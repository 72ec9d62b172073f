import Essentials
import SQLiteCore

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
/// The provable part of that is proven when a connection meets the type first, and ``DirectRecordError``
/// tells what failed: every property has its column; each is stored in place
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
  /// The part that was not proven, in English.
  public let message: String

  /// The type, the property and what was not proven.
  public var description: String {
    "\(([type] + (property.map { [$0] } ?? [])).joined(separator: ".")) cannot be coded in place: "
      + message
  }
}

/// A property of a ``DirectRecord`` and the column that it is.
public struct DirectColumn<Root>: Sendable {
  /// The property's name, as its coding key has it.
  public let name: String

  let kind: PropertyKind
  /// Where the property lies in a value; nil if it is not stored there.
  let offset: Int?
  let size: Int
  /// Copies of a value that have other values of this property.
  let variations: @Sendable (Root) -> [Root]
  /// Returns the stored form of the property of a value.
  let stored: @Sendable (Root, MappingStrategies) throws -> Value
  /// How the property is read and bound where it lies.
  let coding: PropertyCoding

  /// Names a property of one of these types, or an optional of them: integers of all widths,
  /// `Double`, `Float`, `Bool`, `String`, `Data`, `[UInt8]`, `Date`, `UUID`, `URL`, `Decimal` and
  /// `Duration`. Other types need an example.
  ///
  /// - Parameters:
  ///   - name: The property's name, as its coding key has it.
  ///   - path: The stored property.
  public init<Property: Codable & SendableMetatype>(
    _ name: String, _ path: any WritableKeyPath<Root, Property> & Sendable
  ) {
    self.init(name, path, Examples.values(of: Property.self))
  }

  /// Names a property of any type.
  ///
  /// - Parameters:
  ///   - name: The property's name, as its coding key has it.
  ///   - path: The stored property.
  ///   - example: A value that the prototype does not have, to prove by that it is stored as it is.
  public init<Property: Codable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Root, Property> & Sendable, example: Property
  ) {
    self.init(name, path, { [example] })
  }

  private init<Property: Codable & SendableMetatype>(
    _ name: String, _ path: any WritableKeyPath<Root, Property> & Sendable,
    _ examples: @escaping @Sendable () -> [Property]
  ) {
    self.name = name
    kind = PropertyKind(of: Property.self)
    // Nil for what is computed, observed, wrapped or lazy, or lies in an object.
    offset = MemoryLayout<Root>.offset(of: path)
    size = MemoryLayout<Property>.size
    variations = { value in
      examples().map {
        var copy = value
        copy[keyPath: path] = $0
        return copy
      }
    }
    stored = { value, strategies in
      try strategies.stored(value[keyPath: path])
    }
    coding = PropertyCoding(of: Property.self)
  }
}

extension PropertyKind {
  init(of type: Any.Type) {
    self =
      switch type {
      case is Int64.Type: .int64
      case is Int.Type: .int
      case is Double.Type: .double
      case is Bool.Type: .bool
      case is String.Type: .text
      case is Int64?.Type: .optionalInt64
      case is Int?.Type: .optionalInt
      case is Double?.Type: .optionalDouble
      case is Bool?.Type: .optionalBool
      case is String?.Type: .optionalText
      default: .other
      }
  }
}

/// Reads and binds a property where it lies, if its type is a ``ScalarValue``.
@safe struct PropertyCoding: Sendable {
  private typealias Read = @Sendable (DecodedRow, Int32, UnsafeMutableRawPointer) throws -> Void
  private typealias Bind = @Sendable (EncodedRow, Int32, UnsafeRawPointer) throws -> Void

  private let scalar: (any ScalarValue.Type)?
  /// Whether the type is `Data`, which is read and bound without asking what a type can do (benchmark
  /// `fetch-direct`).
  private let isData: Bool
  private let readOther: Read
  private let bindOther: Bind

  /// Finds out how values of a type are read and bound.
  init<Property: Codable & SendableMetatype>(of type: Property.Type) {
    scalar = type as? any ScalarValue.Type
    isData = type == Data.self
    unsafe readOther = { row, column, place in
      unsafe place.assumingMemoryBound(to: Property.self).pointee =
        try row.value(Property.self, at: column)
    }
    unsafe bindOther = { row, parameter, place in
      try row.encode(unsafe place.assumingMemoryBound(to: Property.self).pointee, at: parameter)
    }
  }

  /// Reads a column into the property. Returns false if it holds something else.
  @unsafe func read(
    _ row: DecodedRow, _ column: Int32, into place: UnsafeMutableRawPointer
  ) -> Bool {
    if isData {
      return row.handle.use { unsafe Data.read(into: place, from: $0, at: column, row.forms) }
    }
    if let scalar {
      return row.handle.use { unsafe scalar.read(into: place, from: $0, at: column, row.forms) }
    }
    do {
      try unsafe readOther(row, column, place)
      return true
    } catch {
      // The type's own code will say what is wrong.
      return false
    }
  }

  /// Binds the property to a parameter. Returns false if that is not possible.
  @unsafe func bind(_ row: EncodedRow, _ parameter: Int32, of place: UnsafeRawPointer) -> Bool {
    guard let handle = row.handle else { return false }
    if let scalar {
      let isBound = handle.use { handle in
        isData
          ? unsafe Data.bind(place, to: handle, at: parameter, row.forms)
          : unsafe scalar.bind(place, to: handle, at: parameter, row.forms)
      }
      if isBound == true { row.mark(parameter) }
      return isBound != nil
    }
    do {
      try unsafe bindOther(row, parameter, place)
      // Nothing was marked as bound: the value is nil.
      if !row.isBound(parameter) { try handle.bindNull(at: parameter) }
      return true
    } catch {
      return false
    }
  }
}
