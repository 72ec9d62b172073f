import ExactText
package import Essentials
package import SQLiteCore

extension DecodedRow {
  /// Reads a column as any type.
  func value<Result: Decodable>(_ type: Result.Type, at column: Int32) throws -> Result {
    // Each cast is from the type to itself, which the comparison before it has just proved.
    if type == Date.self {
      return unsafe unsafeBitCast(try date(at: column), to: type)
    } else if type == Data.self {
      return unsafe unsafeBitCast(try data(at: column), to: type)
    } else if type == UUID.self {
      let uuid = try stored(type, at: column) { try strategies.uuids.uuid(from: $0) }
      return unsafe unsafeBitCast(uuid, to: type)
    } else if type == Decimal.self {
      let decimal = try stored(type, at: column, DecimalText.decimal(from:))
      return unsafe unsafeBitCast(decimal, to: type)
    } else if type == URL.self {
      let url = try stored(type, at: column, URLText.url(from:))
      return unsafe unsafeBitCast(url, to: type)
    } else if type == Duration.self {
      let duration = try stored(type, at: column) { try strategies.durations.duration(from: $0) }
      return unsafe unsafeBitCast(duration, to: type)
    } else if type == [UInt8].self {
      let bytes = try stored(type, at: column, [UInt8].init(databaseValue:))
      return unsafe unsafeBitCast(bytes, to: type)
    }
    do {
      return try Result(from: ColumnDecoder(self, column: column))
    } catch let error as DecodingError {
      throw self.error(error, at: column)
    }
  }

  /// Says whether columns have a form of their own for a type that is not one of Swift's.
  func hasOwnForm(_ type: Any.Type) -> Bool {
    type == Date.self || type == Data.self || type == UUID.self || type == Decimal.self
      || type == URL.self || type == Duration.self || type == [UInt8].self
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

  func data(at column: Int32) throws -> Data {
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
  package func data(at column: Int32, ofText isText: Bool) -> Data? {
    var data: Data?
    lendBytes(at: column, ofText: isText) { bytes in
      data = unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return Data() }
        return unsafe Data(bytes: start, count: buffer.count)
      }
    }
    return data
  }
}
