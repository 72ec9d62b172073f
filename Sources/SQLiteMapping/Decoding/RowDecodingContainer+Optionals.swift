import SQLiteCore

// Each of these spares the general form, which asks for NULL first and decodes then.
extension RowDecodingContainer {
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    let column = try column(key)
    return row.handle.isNull(at: column) ? nil : try row.boolean(at: column)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try row.textIfPresent(at: column(key))
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try row.doubleIfPresent(at: column(key))
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    let column = try column(key)
    return row.handle.isNull(at: column) ? nil : try row.float(at: column)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try row.integerIfPresent(type, at: column(key))
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try row.integerIfPresent(type, at: column(key))
  }
}
