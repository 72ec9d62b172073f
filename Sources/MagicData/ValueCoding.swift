import SQLiteCore
import SQLiteMapping

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The stored forms of the values of properties.
enum ValueCoding {
  /// What a column of the type prefers to store.
  static func columnType(of type: Any.Type) -> ColumnType {
    if type is any FixedWidthInteger.Type || type == Bool.self { return .integer }
    if type is any BinaryFloatingPoint.Type { return .real }
    if type == Data.self || type == [UInt8].self { return .blob }
    if let raw = type as? any RawRepresentable.Type { return rawColumnType(of: raw) }
    return .text
  }

  /// The stored form: SQLite's own where there is one, a raw value's for enumerations, else JSON.
  static func stored<Value: Encodable>(_ value: Value) throws -> SQLiteCore.Value {
    if let bindable = value as? any Bindable { return try bindable.databaseValue }
    if let raw = value as? any RawRepresentable, let bindable = rawValue(of: raw) {
      return try bindable.databaseValue
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// The value of a stored form.
  static func value<Value: Decodable>(
    _ type: Value.Type, from stored: SQLiteCore.Value
  ) throws -> Value {
    if let column = Value.self as? any ColumnValue.Type {
      if let value = try column.init(databaseValue: stored) as? Value { return value }
    }
    if let raw = Value.self as? any RawRepresentable.Type,
      let value = try value(of: raw, from: stored) as? Value
    {
      return value
    }
    guard case .text(let text) = stored else { throw stored.mismatch(expected: Value.self) }
    return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  private static func rawColumnType<Raw: RawRepresentable>(of type: Raw.Type) -> ColumnType {
    columnType(of: Raw.RawValue.self)
  }

  private static func rawValue<Raw: RawRepresentable>(of value: Raw) -> (any Bindable)? {
    value.rawValue as? any Bindable
  }

  private static func value<Raw: RawRepresentable>(
    of type: Raw.Type, from stored: SQLiteCore.Value
  ) throws -> Raw? {
    guard let column = Raw.RawValue.self as? any ColumnValue.Type,
      let rawValue = try column.init(databaseValue: stored) as? Raw.RawValue
    else { return nil }
    guard let value = Raw(rawValue: rawValue) else {
      throw SQLiteError(.mismatch, "no \(Raw.self) has the stored raw value")
    }
    return value
  }
}
