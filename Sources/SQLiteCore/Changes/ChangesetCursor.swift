import CSQLite
import Platform

/// The codes of values in a changeset of SQLite's session extension
/// (<https://www.sqlite.org/session/intro.html>). A value's first byte is its code.
package enum FieldCode {
  /// The code for an unchanged column, which has no value.
  package static let undefined: UInt8 = 0
  package static let integer: UInt8 = 1
  package static let real: UInt8 = 2
  package static let text: UInt8 = 3
  package static let blob: UInt8 = 4
  package static let null: UInt8 = 5
}

extension [UInt8] {
  /// Appends a number in the variable-length format that ``ChangesetCursor/varint()`` reads.
  package mutating func append(varint number: UInt64) {
    if number < 0x80 { return append(UInt8(number)) }
    var groups: [UInt8] = []
    var rest = number
    if rest >> 56 != 0 {
      groups.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
      for _ in 0..<8 {
        groups.append(UInt8(rest & 0x7f) | 0x80)
        rest >>= 7
      }
    } else {
      repeat {
        groups.append(UInt8(rest & 0x7f) | (groups.isEmpty ? 0 : 0x80))
        rest >>= 7
      } while rest > 0
    }
    self += groups.reversed()
  }
}

/// The location and kind of an encoded value.
package struct Field: Sendable {
  /// The index of the value's first byte, which is its code.
  package let start: Int
  /// The kind of the value, a ``FieldCode``.
  package let code: UInt8
  /// The range of the value's content: all bytes after the code and, in a text or blob, after the
  /// size.
  package let content: Range<Int>

  /// The field of an unchanged column, without a value.
  package static let undefined = Field(start: 0, code: FieldCode.undefined, content: 0..<0)

  /// Whether the field has a value.
  package var isDefined: Bool { code != FieldCode.undefined }

  /// The range of all bytes of the value, including its code.
  package var range: Range<Int> { start..<content.upperBound }
}

/// A cursor that reads changesets and similar formats. It is safe for arbitrary input: it never
/// reads beyond the end, and never allocates more memory than the input's size.
package struct ChangesetCursor: Sendable {
  package let bytes: [UInt8]
  /// The index of the next byte.
  package private(set) var position: Int

  package init(_ bytes: [UInt8], at position: Int = 0) {
    self.bytes = bytes
    self.position = min(position, bytes.count)
  }

  package var isAtEnd: Bool { position == bytes.count }

  /// The number of remaining bytes.
  package var left: Int { bytes.count - position }

  /// Returns the error for invalid bytes at the current position. `part` describes the damage.
  @inline(never)
  package func damage(_ part: String) -> SQLiteError {
    SQLiteError(.corrupt, "the changeset is corrupt at byte \(position): \(part)")
  }

  package mutating func byte() throws(SQLiteError) -> UInt8 {
    guard position < bytes.count else { throw damage("the data ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Skips `count` bytes. Throws if fewer bytes remain.
  package mutating func skip(_ count: Int) throws(SQLiteError) {
    guard count >= 0, count <= left else { throw damage("the data ends too early") }
    position += count
  }

  package mutating func bigEndian<Integer: FixedWidthInteger & UnsignedInteger>(
    as type: Integer.Type
  ) throws(SQLiteError) -> Integer {
    try skip(MemoryLayout<Integer>.size)
    return number(at: position - MemoryLayout<Integer>.size)
  }

  /// Returns the big-endian number that begins at `index`. The caller checks that all its bytes
  /// exist.
  @inline(__always)
  private func number<Integer: FixedWidthInteger>(at index: Int) -> Integer {
    var result: Integer = 0
    for offset in 0..<MemoryLayout<Integer>.size {
      result = result << 8 | Integer(truncatingIfNeeded: bytes[index + offset])
    }
    return result
  }

  /// Reads a number of one to nine bytes, most significant byte first. The ninth byte holds eight
  /// bits, all others seven.
  package mutating func varint() throws(SQLiteError) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<9 {
      let next = try byte()
      if index == 8 { return result << 8 | UInt64(next) }
      result = result << 7 | UInt64(next & 0x7f)
      if next < 0x80 { break }
    }
    return result
  }

  /// Reads a NUL-terminated name.
  package mutating func name() throws(SQLiteError) -> String {
    guard let end = bytes[position...].firstIndex(of: 0) else {
      throw damage("a name is not terminated")
    }
    guard let name = text(position..<end) else { throw damage("a name is not valid UTF-8") }
    position = end + 1
    return name
  }

  /// Reads a size in bytes, skips that number of bytes, and returns their range.
  fileprivate mutating func counted() throws(SQLiteError) -> Range<Int> {
    let count = try varint()
    guard count <= UInt64(left) else {
      throw damage("a value of \(count) bytes is cut off after \(left) bytes")
    }
    defer { position += Int(count) }
    return position..<position + Int(count)
  }

  fileprivate func text(_ range: Range<Int>) -> String? {
    unsafe bytes.withUnsafeBufferPointer { all in
      guard let start = all.baseAddress, !range.isEmpty else { return "" }
      return unsafe SQLiteCore.text(copying: start + range.lowerBound, count: range.count)
    }
  }

  /// Skips a value and returns its location.
  package mutating func place() throws(SQLiteError) -> Field {
    let start = position
    let code = try byte()
    switch code {
    case FieldCode.undefined, FieldCode.null:
      return Field(start: start, code: code, content: position..<position)
    case FieldCode.integer, FieldCode.real:
      try skip(8)
      return Field(start: start, code: code, content: position - 8..<position)
    case FieldCode.text, FieldCode.blob:
      return Field(start: start, code: code, content: try counted())
    default:
      position = start
      throw damage("unknown value type")
    }
  }

  /// Skips `count` values and stores their locations in `places`.
  package mutating func places(
    _ count: Int, into places: inout [Field]
  ) throws(SQLiteError) {
    if places.count != count { places = [Field](repeating: .undefined, count: count) }
    let start = position
    let end = unsafe bytes.withUnsafeBufferPointer { source in
      unsafe places.withUnsafeMutableBufferPointer {
        unsafe Self.places($0, source, from: start)
      }
    }
    if let end {
      position = end
    } else {
      // The slow path throws the error at the damaged byte, or reads values of 256 MB and more.
      for index in places.indices { places[index] = try place() }
    }
  }

  /// Stores the locations of the values that begin at `start` in `places`. Returns the end of the
  /// last value; nil if the bytes are damaged, or if a value has 256 MB or more.
  private static func places(
    _ places: UnsafeMutableBufferPointer<Field>, _ source: UnsafeBufferPointer<UInt8>,
    from start: Int
  ) -> Int? {
    var position = start
    for index in places.indices {
      guard position < source.count else { return nil }
      let (start, code) = unsafe (position, source[position])
      position += 1
      var size = 0
      switch code {
      case FieldCode.undefined, FieldCode.null: break
      case FieldCode.integer, FieldCode.real: size = 8
      case FieldCode.text, FieldCode.blob:
        var next: UInt8
        repeat {
          guard position < source.count, size < 1 << 21 else { return nil }
          unsafe next = source[position]
          size = size << 7 | Int(next & 0x7f)
          position += 1
        } while next >= 0x80
      default: return nil
      }
      guard size <= source.count - position else { return nil }
      unsafe places[index] = Field(start: start, code: code, content: position..<position + size)
      position += size
    }
    return position
  }

  /// Skips `count` values and returns their ranges.
  mutating func fields(_ count: Int) throws(SQLiteError) -> [Range<Int>] {
    var fields: [Range<Int>] = []
    fields.reserveCapacity(count)
    for _ in 0..<count { fields.append(try place().range) }
    return fields
  }

  /// Reads a value and returns it, or returns nil if the column hasn't changed.
  ///
  /// - Parameter takesAnyText: Whether to return text that isn't valid UTF-8 as a blob, instead of
  ///   throwing an error.
  package mutating func field(takesAnyText: Bool = false) throws(SQLiteError) -> Value? {
    try value(of: try place(), takesAnyText: takesAnyText)
  }

  /// Returns the value of a field; nil if the column hasn't changed. If `takesAnyText` is true,
  /// text that isn't valid UTF-8 becomes a blob; otherwise it throws.
  package func value(of field: Field, takesAnyText: Bool = false) throws(SQLiteError) -> Value? {
    switch field.code {
    case FieldCode.undefined: return nil
    case FieldCode.integer: return .integer(number(at: field.content.lowerBound))
    // SQLite stores NaN as NULL.
    case FieldCode.real: return isNotANumber(field) ? .null : .real(real(field))
    case FieldCode.text:
      if let text = text(field.content) { return .text(text) }
      guard takesAnyText else { throw damage("a text is not valid UTF-8") }
      return .blob(copy(field.content))
    case FieldCode.blob: return .blob(copy(field.content))
    default: return .null
    }
  }

  fileprivate func real(_ field: Field) -> Double {
    Double(bitPattern: number(at: field.content.lowerBound))
  }

  /// Returns whether a field is NaN, which SQLite can't store.
  package func isNotANumber(_ field: Field) -> Bool {
    field.code == FieldCode.real && real(field).isNaN
  }

  /// Returns the integer in a field; nil if the value has another type.
  package func integer(_ field: Field) -> Int64? {
    field.code == FieldCode.integer ? number(at: field.content.lowerBound) : nil
  }

  /// Returns whether a field is a text that isn't valid UTF-8.
  package func isDamagedText(_ field: Field) -> Bool {
    guard field.code == FieldCode.text, !field.content.isEmpty else { return false }
    return unsafe bytes.withUnsafeBufferPointer {
      unsafe !isUTF8(UnsafeBufferPointer(rebasing: $0[field.content]))
    }
  }

  /// Returns whether the bytes of a field can be copied into a patch. False for an unchanged
  /// column, for NaN, and for text that isn't valid UTF-8.
  package func isExact(_ field: Field) -> Bool {
    switch field.code {
    case FieldCode.undefined: false
    case FieldCode.real: !isNotANumber(field)
    case FieldCode.text: !isDamagedText(field)
    default: true
    }
  }

  /// Returns whether two fields have equal bytes.
  package func areSame(_ left: Field, _ right: Field) -> Bool {
    if left.start == right.start { return true }
    guard left.code == right.code, left.content.count == right.content.count else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return true }
      return unsafe memcmp(
        start + left.content.lowerBound, start + right.content.lowerBound, left.content.count) == 0
    }
  }

  /// Returns whether the content of a field consists of the bytes `other`.
  fileprivate func has(_ other: UnsafeRawBufferPointer, _ field: Field) -> Bool {
    guard other.count == field.content.count else { return false }
    guard let other = other.baseAddress else { return true }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return true }
      return unsafe memcmp(start + field.content.lowerBound, other, field.content.count) == 0
    }
  }

  private func copy(_ range: Range<Int>) -> [UInt8] {
    unsafe bytes.withUnsafeBytes { all in
      unsafe copiedBytes(all.baseAddress.map { unsafe $0 + range.lowerBound }, count: range.count)
    }
  }

  /// Reads the values of a row. The values of unchanged columns are copied from another row.
  ///
  /// - Parameters:
  ///   - count: The number of values to read, one for each column of the table.
  ///   - instead: The values of the row before the change; nil if every column must have a value.
  /// - Throws: ``SQLiteError`` if the bytes are damaged, or if the value of an unchanged column is
  ///   missing in `instead`.
  mutating func values(_ count: Int, instead: [Value]?) throws(SQLiteError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in 0..<count {
      if let value = try field(takesAnyText: true) {
        values.append(value)
      } else {
        guard let instead, instead.indices.contains(index) else {
          throw damage("a value is missing")
        }
        values.append(instead[index])
      }
    }
    return values
  }
}

extension StatementHandle {
  /// Binds the value of a field, which `cursor` has located, to a parameter.
  package func bind(
    _ field: Field, of cursor: ChangesetCursor, at parameter: Int32
  ) throws(SQLiteError) {
    switch field.code {
    case FieldCode.text, FieldCode.blob:
      let code = unsafe cursor.bytes.withUnsafeBytes {
        unsafe bind(
          UnsafeRawBufferPointer(rebasing: $0[field.content]), asText: field.code == FieldCode.text,
          to: parameter)
      }
      try check(code, parameter)
    default: try bind(cursor.value(of: field) ?? .null, at: parameter)
    }
  }

  /// Returns whether a column of the current row and a field have the same type and are equal bit
  /// by bit.
  package func column(_ index: Int32, is field: Field, of cursor: ChangesetCursor) -> Bool {
    let column = column(index)
    switch (column.type, field.code) {
    case (SQLITE_NULL, FieldCode.null): return true
    case (SQLITE_INTEGER, FieldCode.integer):
      return column.convertedInteger == cursor.integer(field)
    case (SQLITE_FLOAT, FieldCode.real):
      return column.convertedReal.bitPattern == cursor.real(field).bitPattern
    case (SQLITE_TEXT, FieldCode.text): return unsafe cursor.has(column.textBytesInPlace, field)
    case (SQLITE_BLOB, FieldCode.blob):
      return unsafe cursor.has(column.bytes(ofText: false), field)
    default: return false
    }
  }
}

extension ChangesetCursor {
  /// Reads a text after its size in bytes.
  mutating func countedText() throws(SQLiteError) -> String {
    let range = try counted()
    guard let text = text(range) else { throw damage("a name is not valid UTF-8") }
    return text
  }
}
