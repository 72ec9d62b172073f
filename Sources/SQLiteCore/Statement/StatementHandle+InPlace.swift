import CSQLite

/// What a stored property holds that is read and bound in place.
package enum PropertyKind: UInt8, Sendable {
  case int64, int, double, bool, text
  case optionalInt64, optionalInt, optionalDouble, optionalBool, optionalText
  /// Something that the layer above reads and binds.
  case other
}

/// A stored property: where it lies in its value, and the column or the parameter that it is.
package struct PlacedProperty: Sendable {
  package let kind: PropertyKind
  package let offset: Int
  package let position: Int32

  package init(_ kind: PropertyKind, offset: Int, position: Int32) {
    self.kind = kind
    self.offset = offset
    self.position = position
  }
}

// One call for a row: a call for each column would cost as much as SQLite's own (benchmark
// `fetch-direct`).
extension StatementHandle {
  /// Reads the columns of the row into the properties of a value.
  ///
  /// - Parameters:
  ///   - properties: The properties with their columns.
  ///   - start: The value, whose properties are initialized and of these kinds at these offsets.
  ///   - other: Reads the property of an index, and says whether it could.
  /// - Returns: False if a column holds something else than its property; some are read then.
  @unsafe package func read(
    _ properties: UnsafeBufferPointer<PlacedProperty>, into start: UnsafeMutableRawPointer,
    other: (Int) -> Bool
  ) -> Bool {
    let statement = unsafe pointer
    let count = properties.count
    var index = -1
    while index < count - 1 {
      index += 1
      let property = unsafe properties[index]
      let place = unsafe start + property.offset
      if property.kind == .other {
        if other(index) { continue }
        return false
      }
      let value = unsafe sqlite3_column_value(statement, property.position)
      let type = unsafe sqlite3_value_type(value)
      if type == SQLITE_NULL {
        guard unsafe setNil(property.kind, at: place) else { return false }
        continue
      }
      switch property.kind {
      case .int64, .optionalInt64:
        guard type == SQLITE_INTEGER else { return false }
        let integer = unsafe sqlite3_value_int64(value)
        if property.kind == .int64 {
          unsafe place.assumingMemoryBound(to: Int64.self).pointee = integer
        } else {
          unsafe place.assumingMemoryBound(to: Int64?.self).pointee = integer
        }
      case .int, .optionalInt:
        guard type == SQLITE_INTEGER,
          let integer = unsafe Int(exactly: sqlite3_value_int64(value))
        else { return false }
        if property.kind == .int {
          unsafe place.assumingMemoryBound(to: Int.self).pointee = integer
        } else {
          unsafe place.assumingMemoryBound(to: Int?.self).pointee = integer
        }
      case .double, .optionalDouble:
        guard type == SQLITE_FLOAT else { return false }
        let real = unsafe sqlite3_value_double(value)
        if property.kind == .double {
          unsafe place.assumingMemoryBound(to: Double.self).pointee = real
        } else {
          unsafe place.assumingMemoryBound(to: Double?.self).pointee = real
        }
      case .bool, .optionalBool:
        guard type == SQLITE_INTEGER else { return false }
        let integer = unsafe sqlite3_value_int64(value)
        guard integer == 0 || integer == 1 else { return false }
        if property.kind == .bool {
          unsafe place.assumingMemoryBound(to: Bool.self).pointee = integer == 1
        } else {
          unsafe place.assumingMemoryBound(to: Bool?.self).pointee = integer == 1
        }
      case .text, .optionalText:
        guard type == SQLITE_TEXT, let start = unsafe sqlite3_value_text(value),
          let text = unsafe SQLiteCore.text(copying: start, count: Int(sqlite3_value_bytes(value)))
        else { return false }
        if property.kind == .text {
          unsafe place.assumingMemoryBound(to: String.self).pointee = text
        } else {
          unsafe place.assumingMemoryBound(to: String?.self).pointee = text
        }
      case .other: return false
      }
    }
    return true
  }

  @unsafe private func setNil(_ kind: PropertyKind, at place: UnsafeMutableRawPointer) -> Bool {
    switch kind {
    case .optionalInt64: unsafe place.assumingMemoryBound(to: Int64?.self).pointee = nil
    case .optionalInt: unsafe place.assumingMemoryBound(to: Int?.self).pointee = nil
    case .optionalDouble: unsafe place.assumingMemoryBound(to: Double?.self).pointee = nil
    case .optionalBool: unsafe place.assumingMemoryBound(to: Bool?.self).pointee = nil
    case .optionalText: unsafe place.assumingMemoryBound(to: String?.self).pointee = nil
    case .int64, .int, .double, .bool, .text, .other: return false
    }
    return true
  }

  /// Binds the properties of a value to parameters.
  ///
  /// - Parameters:
  ///   - properties: The properties with their parameters.
  ///   - start: The value, with properties of these kinds at these offsets.
  ///   - other: Binds the property of an index, and says whether it could.
  /// - Returns: False if something could not be bound; some are bound then.
  @unsafe package func bind(
    _ properties: UnsafeBufferPointer<PlacedProperty>, of start: UnsafeRawPointer,
    other: (Int) -> Bool
  ) -> Bool {
    isBound = true
    let statement = unsafe pointer
    let count = properties.count
    var index = -1
    while index < count - 1 {
      index += 1
      let property = unsafe properties[index]
      let place = unsafe start + property.offset
      let parameter = property.position
      let code: Int32
      switch property.kind {
      case .int64:
        code = unsafe sqlite3_bind_int64(statement, parameter, place.load(as: Int64.self))
      case .int:
        code = unsafe sqlite3_bind_int64(statement, parameter, Int64(place.load(as: Int.self)))
      case .double:
        let real = unsafe place.load(as: Double.self)
        // SQLite would store NULL.
        if real.isNaN { return false }
        code = unsafe sqlite3_bind_double(statement, parameter, real)
      case .bool:
        code = unsafe sqlite3_bind_int64(statement, parameter, place.load(as: Bool.self) ? 1 : 0)
      case .text:
        code = unsafe bind(place.assumingMemoryBound(to: String.self), at: parameter)
      case .optionalInt64:
        let integer = unsafe place.load(as: Int64?.self)
        code = bind(integer, at: parameter)
      case .optionalInt:
        let integer = unsafe place.load(as: Int?.self)
        code = bind(integer.map { Int64($0) }, at: parameter)
      case .optionalBool:
        let flag = unsafe place.load(as: Bool?.self)
        code = bind(flag.map { $0 ? 1 : 0 }, at: parameter)
      case .optionalDouble:
        guard let real = unsafe place.load(as: Double?.self) else {
          code = unsafe sqlite3_bind_null(statement, parameter)
          break
        }
        if real.isNaN { return false }
        code = unsafe sqlite3_bind_double(statement, parameter, real)
      case .optionalText:
        guard let text = unsafe place.assumingMemoryBound(to: String?.self).pointee else {
          code = unsafe sqlite3_bind_null(statement, parameter)
          break
        }
        code = unsafe withUnsafePointer(to: text) { unsafe bind($0, at: parameter) }
      case .other: code = other(index) ? SQLITE_OK : SQLITE_ERROR
      }
      guard code == SQLITE_OK else { return false }
    }
    return true
  }

  @unsafe private func bind(_ text: UnsafePointer<String>, at parameter: Int32) -> Int32 {
    var text = unsafe text.pointee
    return text.withUTF8 { bytes in
      unsafe csqlite_bind_text(
        pointer, parameter,
        bytes.baseAddress.map { unsafe UnsafeRawPointer($0) } ?? emptyBytes, UInt64(bytes.count))
    }
  }

  private func bind(_ integer: Int64?, at parameter: Int32) -> Int32 {
    guard let integer else { return unsafe sqlite3_bind_null(pointer, parameter) }
    return unsafe sqlite3_bind_int64(pointer, parameter, integer)
  }
}
