import SQLiteCore

/// The kinds of replies, by their numbers.
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

/// A message of a server, which may say anything: whatever is read is looked for first.
struct Reply {
  let kind: ReplyKind
  var body: ReplyReader
}

/// Reads the body of a message. No byte outside it is read, whatever the lengths in it say.
package struct ReplyReader {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  /// - Parameters:
  ///   - bytes: The bytes, of this message and others.
  ///   - range: Where those of the message's body are.
  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// The bytes that are left.
  var count: Int { end - position }

  /// The last byte of the message; nil if none is left.
  var last: UInt8? { count > 0 ? bytes[end - 1] : nil }

  /// The error for what no server says.
  static func nonsense(_ what: String) -> SQLiteError {
    SQLiteError(.lockingProtocol, "the server's message makes no sense: \(what)")
  }

  /// Reads a word.
  mutating func word() throws(SQLiteError) -> UInt64 {
    guard count >= 8 else { throw ReplyReader.nonsense("it ends too early") }
    defer { position += 8 }
    return word(at: position)
  }

  private func word(at offset: Int) -> UInt64 {
    UInt64(
      littleEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(
        fromByteOffset: offset, as: UInt64.self))
  }

  /// Reads a word as two halves.
  mutating func halves() throws(SQLiteError) -> (UInt32, UInt32) {
    let word = try word()
    return (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
  }

  /// Finds the bytes of a text up to its NUL, and goes behind them. It is filled with more NULs to a whole word.
  mutating func textRange() throws(SQLiteError) -> Range<Int> {
    let start = position
    while true {
      let word = try word()
      // The lowest bit that is set stands in the first byte that is 0.
      let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
      if zeros != 0 { return start..<position - 8 + zeros.trailingZeroBitCount / 8 }
    }
  }

  /// Reads a text; what is not UTF-8 in it is replaced.
  mutating func text() throws(SQLiteError) -> String {
    let range = try textRange()
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Finds the bytes of a blob, and goes behind them.
  mutating func blobRange() throws(SQLiteError) -> Range<Int> {
    let length = try word()
    guard let length = Int(exactly: length), length <= count else {
      throw ReplyReader.nonsense("a blob is longer than the message")
    }
    let start = position
    position = min(end, position + (length + 7) / 8 * 8)
    return start..<start + length
  }

  /// Reads the types of a row's columns, four bits each, or the mark behind the last row.
  mutating func types(_ columnCount: Int) throws(SQLiteError) -> RowHead {
    guard count >= 8 else { throw ReplyReader.nonsense("it ends too early") }
    let first = word(at: position)
    let isMore = first == 0xeeee_eeee_eeee_eeee
    if isMore || first == .max {
      position += 8
      return isMore ? .more : .end
    }
    let size = (columnCount + 15) / 16 * 8
    guard count >= size else { throw ReplyReader.nonsense("a row ends too early") }
    defer { position += size }
    return .row(types: position)
  }

  /// The type of a column, whose types begin at an offset.
  func type(_ column: Int, from start: Int) throws(SQLiteError) -> ValueType {
    let byte = bytes[start + column / 2]
    let nibble = column & 1 == 0 ? byte & 15 : byte >> 4
    guard let type = ValueType(rawValue: nibble) else {
      throw ReplyReader.nonsense("a value has the type \(nibble)")
    }
    return type
  }

  /// Binds the values of the next row to the parameters of a statement, that of the first column to number 1.
  ///
  /// - Returns: Whether there was a row, or what stands in its place.
  mutating func bindRow(
    _ columnCount: Int, to carrier: StatementHandle
  ) throws(SQLiteError) -> RowHead {
    let head = try types(columnCount)
    guard case .row(let start) = head else { return head }
    carrier.beginRow()
    for column in 0..<columnCount {
      try bindValue(try type(column, from: start), to: carrier, at: Int32(column + 1))
    }
    return head
  }

  /// Reads a value and binds it to a parameter.
  private mutating func bindValue(
    _ type: ValueType, to carrier: StatementHandle, at parameter: Int32
  ) throws(SQLiteError) {
    switch type {
    case .integer, .unixTime, .boolean:
      try carrier.bind(Int64(bitPattern: try word()), at: parameter)
    case .real:
      let real = Double(bitPattern: try word())
      // SQLite has none: a server that sends one does not mean it.
      if real.isNaN {
        try carrier.bindNull(at: parameter)
      } else {
        try carrier.bind(real, at: parameter)
      }
    case .text, .dateText:
      let range = try textRange()
      try bind(range, asText: true, to: carrier, at: parameter)
    case .blob:
      let range = try blobRange()
      try bind(range, asText: false, to: carrier, at: parameter)
    case .null:
      _ = try word()
      try carrier.bindNull(at: parameter)
    }
  }

  private func bind(
    _ range: Range<Int>, asText isText: Bool, to carrier: StatementHandle, at parameter: Int32
  ) throws(SQLiteError) {
    try unsafe carrier.bind(
      bytes: bytes.span.bytes.extracting(range), asText: isText, at: parameter)
  }
}

/// The beginning of a row.
enum RowHead: Equatable {
  /// A row, and where the types of its columns stand.
  case row(types: Int)
  /// Another message with rows follows.
  case more
  /// There are no more rows.
  case end
}
