import SQLiteCore

/// The kinds of replies in dqlite's wire protocol.
package enum ReplyKind: UInt8 {
  case failure = 0
  case server = 1
  case welcome = 2
  case servers = 3
  case database = 4
  case statement = 5
  case result = 6
  case rows = 7
  case empty = 8
}

/// A message from a node. The content is untrusted.
struct Reply {
  let kind: ReplyKind
  var body: ReplyReader
}

/// A reader of the body of a message. It never reads bytes outside the body, whatever lengths the
/// message contains.
package struct ReplyReader {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  /// Creates a reader for the body of a message.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of this message and others.
  ///   - range: The range of the message's body.
  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// The number of bytes of the body that haven't been read yet.
  var count: Int { end - position }

  /// The last byte of the message; nil if no bytes remain.
  var last: UInt8? { count > 0 ? bytes[end - 1] : nil }

  /// Returns the error for an invalid message.
  static func invalidMessage(_ what: String) -> SQLiteError {
    SQLiteError(.lockingProtocol, "the server sent an invalid message: \(what)")
  }

  /// Reads a little-endian word of 8 bytes.
  mutating func word() throws(SQLiteError) -> UInt64 {
    var next = position
    defer { position = next }
    return try unsafe ReplyReader.word(bytes.span.bytes, &next, end)
  }

  // The following functions get the bytes as an argument. Otherwise the array would be retained for
  // each value of a row.

  @inline(__always) private static func word(
    _ bytes: RawSpan, _ position: inout Int, _ end: Int
  ) throws(SQLiteError) -> UInt64 {
    guard end - position >= 8 else { throw invalidMessage("it ends too early") }
    defer { position += 8 }
    return UInt64(
      littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
  }

  @inline(__always) private static func textRange(
    _ bytes: RawSpan, _ position: inout Int, _ end: Int
  ) throws(SQLiteError) -> Range<Int> {
    let start = position
    while true {
      let word = try word(bytes, &position, end)
      // The lowest set bit is in the first zero byte.
      let zeros = zeros(word)
      if zeros != 0 { return start..<position - 8 + zeros.trailingZeroBitCount / 8 }
    }
  }

  /// Returns 0 if no byte of a word is 0. Otherwise the lowest set bit of the result is in the
  /// first zero byte.
  @inline(__always) private static func zeros(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }

  /// Reads a word, and returns its lower and its upper 32 bits.
  mutating func halves() throws(SQLiteError) -> (UInt32, UInt32) {
    let word = try word()
    return (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
  }

  /// Reads a NUL-terminated text and the padding to a whole word. Replaces invalid UTF-8 with
  /// U+FFFD.
  mutating func text() throws(SQLiteError) -> String {
    var next = position
    defer { position = next }
    let range = try unsafe ReplyReader.textRange(bytes.span.bytes, &next, end)
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Returns the code and the text of a failure. Searches for them from the end of the message,
  /// because a node of version 1.11 puts the start of another answer before them: the column names
  /// and the rows before the failed one.
  func failure() throws(SQLiteError) -> (code: UInt64, text: String) {
    var failure = self
    failure.position = end - 16
    while failure.position >= position {
      let start = failure.position
      let code = try failure.word()
      // Only the last word of a text contains a NUL, and every code contains one.
      if ReplyReader.zeros(code) != 0 { return (code, try failure.text()) }
      failure.position = start - 8
    }
    throw ReplyReader.invalidMessage("a failure has no code")
  }

  /// Reads the types of a row's columns, four bits each, or the marker in place of a row.
  mutating func types(_ columnCount: Int) throws(SQLiteError) -> RowHead {
    let start = position
    let first = try word()
    if first == 0xeeee_eeee_eeee_eeee { return .more }
    if first == .max { return .end }
    let size = (columnCount + 15) / 16 * 8
    guard end - start >= size else { throw ReplyReader.invalidMessage("a row ends too early") }
    position = start + size
    return .row(types: start)
  }

  /// Returns the type of a column. The types begin at the offset `start`.
  func type(_ column: Int, from start: Int) throws(SQLiteError) -> ValueType {
    try unsafe ReplyReader.type(bytes.span.bytes, column, from: start)
  }

  @inline(__always) private static func type(
    _ bytes: RawSpan, _ column: Int, from start: Int
  ) throws(SQLiteError) -> ValueType {
    let byte = unsafe bytes.unsafeLoad(fromByteOffset: start + column / 2, as: UInt8.self)
    let nibble = column & 1 == 0 ? byte & 15 : byte >> 4
    guard let type = ValueType(rawValue: nibble) else {
      throw invalidMessage("unknown value type \(nibble)")
    }
    return type
  }

  /// Binds the values of the next row to the parameters of a statement, starting with parameter 1.
  ///
  /// - Returns: The start of the row, or the marker in its place. For a marker, nothing is bound.
  mutating func bindRow(
    _ columnCount: Int, to carrier: StatementHandle
  ) throws(SQLiteError) -> RowHead {
    let head = try types(columnCount)
    guard case .row(let start) = head else { return head }
    carrier.beginRow()
    var next = position
    defer { position = next }
    try unsafe ReplyReader.bind(columnCount, from: start, bytes.span.bytes, &next, end, to: carrier)
    return head
  }

  private static func bind(
    _ columnCount: Int, from types: Int, _ bytes: RawSpan, _ position: inout Int, _ end: Int,
    to carrier: StatementHandle
  ) throws(SQLiteError) {
    for column in 0..<columnCount {
      let parameter = Int32(column + 1)
      switch try type(bytes, column, from: types) {
      case .integer, .unixTime, .boolean:
        try carrier.bind(Int64(bitPattern: try word(bytes, &position, end)), at: parameter)
      case .real:
        let real = Double(bitPattern: try word(bytes, &position, end))
        // SQLite has no NaN, so a node sends it only in an invalid message.
        if real.isNaN {
          try carrier.bindNull(at: parameter)
        } else {
          try carrier.bind(real, at: parameter)
        }
      case .text, .dateText:
        let range = try textRange(bytes, &position, end)
        try carrier.bind(bytes: bytes.extracting(range), asText: true, at: parameter)
      case .blob:
        guard let size = Int(exactly: try word(bytes, &position, end)), size <= end - position
        else { throw invalidMessage("a blob is longer than its message") }
        let range = position..<position + size
        position = min(end, position + (size + 7) / 8 * 8)
        try carrier.bind(bytes: bytes.extracting(range), asText: false, at: parameter)
      case .null:
        _ = try word(bytes, &position, end)
        try carrier.bindNull(at: parameter)
      }
    }
  }
}

/// The start of a row, or a marker in its place.
enum RowHead: Equatable {
  /// A row, with the offset of its column types.
  case row(types: Int)
  /// Another message with rows follows.
  case more
  /// There are no more rows.
  case end
}
