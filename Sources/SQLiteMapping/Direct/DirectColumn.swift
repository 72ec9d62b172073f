import SQLiteCore

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
  /// What the column stores of a value.
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
