// Each of these spares the general form, which knows the type at run time only.
extension RowEncodingContainer {
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(Double(value), at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    let parameter = try parameter(key)
    if let value { try row.bind(value, at: parameter) } else { row.bindNil(at: parameter) }
  }
}
