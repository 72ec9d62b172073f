import CSQLite

/// The type of a stored property that is read and bound in place.
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
    let count = properties.count
    var index = -1
    while index < count - 1 {
      index += 1
      let property = unsafe properties[index]
      let field = unsafe start + property.offset
      if property.kind == .other {
        if other(index) { continue }
        return false
      }
      let value = column(property.position)
      let type = value.type
      if type == SQLITE_NULL {
        guard unsafe setNil(property.kind, at: field) else { return false }
        continue
      }
      switch property.kind {
      case .int64, .optionalInt64:
        guard type == SQLITE_INTEGER else { return false }
        let integer = value.convertedInteger
        if property.kind == .int64 {
          unsafe field.assumingMemoryBound(to: Int64.self).pointee = integer
        } else {
          unsafe field.assumingMemoryBound(to: Int64?.self).pointee = integer
        }
      case .int, .optionalInt:
        guard type == SQLITE_INTEGER,
          let integer = Int(exactly: value.convertedInteger)
        else { return false }
        if property.kind == .int {
          unsafe field.assumingMemoryBound(to: Int.self).pointee = integer
        } else {
          unsafe field.assumingMemoryBound(to: Int?.self).pointee = integer
        }
      case .double, .optionalDouble:
        guard type == SQLITE_FLOAT else { return false }
        let real = value.convertedReal
        if property.kind == .double {
          unsafe field.assumingMemoryBound(to: Double.self).pointee = real
        } else {
          unsafe field.assumingMemoryBound(to: Double?.self).pointee = real
        }
      case .bool, .optionalBool:
        guard type == SQLITE_INTEGER else { return false }
        guard let boolean = Bool(stored: value.convertedInteger) else { return false }
        if property.kind == .bool {
          unsafe field.assumingMemoryBound(to: Bool.self).pointee = boolean
        } else {
          unsafe field.assumingMemoryBound(to: Bool?.self).pointee = boolean
        }
      case .text, .optionalText:
        guard type == SQLITE_TEXT, let text = value.convertedText else { return false }
        if property.kind == .text {
          unsafe field.assumingMemoryBound(to: String.self).pointee = text
        } else {
          unsafe field.assumingMemoryBound(to: String?.self).pointee = text
        }
      case .other: return false
      }
    }
    return true
  }

  @unsafe private func setNil(_ kind: PropertyKind, at field: UnsafeMutableRawPointer) -> Bool {
    switch kind {
    case .optionalInt64: unsafe field.assumingMemoryBound(to: Int64?.self).pointee = nil
    case .optionalInt: unsafe field.assumingMemoryBound(to: Int?.self).pointee = nil
    case .optionalDouble: unsafe field.assumingMemoryBound(to: Double?.self).pointee = nil
    case .optionalBool: unsafe field.assumingMemoryBound(to: Bool?.self).pointee = nil
    case .optionalText: unsafe field.assumingMemoryBound(to: String?.self).pointee = nil
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
    let count = properties.count
    var index = -1
    while index < count - 1 {
      index += 1
      let property = unsafe properties[index]
      let field = unsafe start + property.offset
      if property.kind == .other {
        if other(index) { continue }
        return false
      }
      do throws(SQLiteError) {
        unsafe try bind(property.kind, field, at: property.position)
      } catch {
        return false
      }
    }
    return true
  }

  @unsafe @inline(__always) private func bind(
    _ kind: PropertyKind, _ field: UnsafeRawPointer, at parameter: Int32
  ) throws(SQLiteError) {
    switch kind {
    case .int64: try bind(unsafe field.load(as: Int64.self), at: parameter)
    case .int: try bind(Int64(unsafe field.load(as: Int.self)), at: parameter)
    case .double: try bind(unsafe field.load(as: Double.self), at: parameter)
    case .bool: try bind(unsafe field.load(as: Bool.self) ? 1 : 0 as Int64, at: parameter)
    case .text: try bind(unsafe field.assumingMemoryBound(to: String.self).pointee, at: parameter)
    case .optionalInt64:
      guard let integer = unsafe field.load(as: Int64?.self) else { break }
      return try bind(integer, at: parameter)
    case .optionalInt:
      guard let integer = unsafe field.load(as: Int?.self) else { break }
      return try bind(Int64(integer), at: parameter)
    case .optionalDouble:
      guard let real = unsafe field.load(as: Double?.self) else { break }
      return try bind(real, at: parameter)
    case .optionalBool:
      guard let flag = unsafe field.load(as: Bool?.self) else { break }
      return try bind(flag ? 1 : 0 as Int64, at: parameter)
    case .optionalText:
      guard let text = unsafe field.assumingMemoryBound(to: String?.self).pointee else { break }
      return try bind(text, at: parameter)
    case .other: return
    }
    switch kind {
    case .optionalInt64, .optionalInt, .optionalDouble, .optionalBool, .optionalText:
      try bindNull(at: parameter)
    default: return
    }
  }
}
