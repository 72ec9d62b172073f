#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import SQLiteCore

extension RowDecoder {
  /// Reads a column as any type.
  func value<Result: Decodable>(_ type: Result.Type, at column: Int32) throws -> Result {
    if let value = try foundationValue(type, at: column) { return value }
    do {
      return try Result(from: ColumnDecoder(row: self, column: column))
    } catch let error as DecodingError {
      throw self.error(error, at: column)
    }
  }

  /// Reads a column as a type that has a stored form of its own; nil for other types.
  func foundationValue<Result>(_ type: Result.Type, at column: Int32) throws -> Result? {
    // Each cast is from the type to itself, which the comparison before it has just proved.
    if type == Date.self {
      return unsafe unsafeBitCast(try date(at: column), to: type)
    } else if type == Data.self {
      return unsafe unsafeBitCast(try data(at: column), to: type)
    } else if type == UUID.self {
      return unsafe unsafeBitCast(
        try stored(type, at: column) { try strategies.uuids.uuid(from: $0) }, to: type)
    } else if type == Decimal.self {
      return unsafe unsafeBitCast(
        try stored(type, at: column, DecimalText.decimal(from:)), to: type)
    } else if type == URL.self {
      return unsafe unsafeBitCast(try stored(type, at: column, URLText.url(from:)), to: type)
    } else if type == Duration.self {
      return unsafe unsafeBitCast(
        try stored(type, at: column) { try strategies.durations.duration(from: $0) }, to: type)
    } else if type == [UInt8].self {
      return unsafe unsafeBitCast(
        try stored(type, at: column, [UInt8].init(databaseValue:)), to: type)
    }
    return nil
  }

  private func date(at column: Int32) throws -> Date {
    guard case .text = strategies.dates else {
      return try stored(Date.self, at: column) { try strategies.dates.date(from: $0) }
    }
    do {
      let date = try handle.withBytes(at: column, ofText: true) { bytes in
        try DateText.date(from: Span<UInt8>(_bytes: bytes))
      }
      if let date { return date }
    } catch let error as SQLiteError {
      throw self.error(error.message, at: column)
    }
    throw mismatch(Date.self, at: column)
  }

  private func data(at column: Int32) throws -> Data {
    guard case .blob = strategies.data else {
      return try stored(Data.self, at: column) { try strategies.data.data(from: $0) }
    }
    if let data = handle.data(at: column, ofText: false) { return data }
    throw mismatch(Data.self, at: column)
  }

  private func stored<Result>(
    _ type: Any.Type, at column: Int32, _ read: (Value) throws -> Result
  ) throws -> Result {
    do {
      let value = try handle.value(at: column)
      if value.isNull { throw mismatch(type, at: column) }
      return try read(value)
    } catch let error as SQLiteError {
      throw self.error(error.message, at: column)
    }
  }
}

extension StatementHandle {
  /// A copy of the bytes of a blob or of a text; nil if a column stores something else.
  func data(at column: Int32, ofText isText: Bool) -> Data? {
    withBytes(at: column, ofText: isText) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
  }
}
