import SQLiteCore

extension DecodedRow {
  func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, at column: Int32
  ) throws -> Integer {
    guard let stored = handle.integer(at: column) else { throw mismatch(type, at: column) }
    guard let exact = Integer(exactly: stored) else { throw overflow(type, at: column) }
    return exact
  }

  func integerIfPresent<Integer: FixedWidthInteger>(
    _ type: Integer.Type, at column: Int32
  ) throws -> Integer? {
    guard let stored = handle.integer(at: column) else {
      if handle.isNull(at: column) { return nil }
      throw mismatch(type, at: column)
    }
    guard let exact = Integer(exactly: stored) else { throw overflow(type, at: column) }
    return exact
  }

  func boolean(at column: Int32) throws -> Bool {
    switch handle.integer(at: column) {
    case 0: return false
    case 1: return true
    case nil: throw mismatch(Bool.self, at: column)
    default: throw error("the integer is neither 0 nor 1, so not a Bool", at: column)
    }
  }

  func double(at column: Int32) throws -> Double {
    if let real = handle.real(at: column) { return real }
    // A column without REAL affinity stores what was bound as an integer.
    guard let integer = handle.integer(at: column) else { throw mismatch(Double.self, at: column) }
    guard let exact = Double(exactly: integer) else { throw overflow(Double.self, at: column) }
    return exact
  }

  func doubleIfPresent(at column: Int32) throws -> Double? {
    if let real = handle.real(at: column) { return real }
    return handle.isNull(at: column) ? nil : try double(at: column)
  }

  func float(at column: Int32) throws -> Float {
    guard let exact = Float(exactly: try double(at: column)) else {
      throw overflow(Float.self, at: column)
    }
    return exact
  }

  func text(at column: Int32) throws -> String {
    if let text = handle.text(at: column) { return text }
    throw mismatch(String.self, at: column)
  }

  func textIfPresent(at column: Int32) throws -> String? {
    if let text = handle.text(at: column) { return text }
    if handle.isNull(at: column) { return nil }
    throw mismatch(String.self, at: column)
  }

  @inline(never)
  func mismatch(_ type: Any.Type, at column: Int32) -> RowDecodingError {
    let isText = handle.storageClass(at: column) == "TEXT"
    return error(
      type == String.self && isText ? "the text is not valid UTF-8" : "expected \(type)",
      at: column)
  }

  @inline(never)
  private func overflow(_ type: Any.Type, at column: Int32) -> RowDecodingError {
    error("the stored number does not fit \(type) exactly", at: column)
  }
}
