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
  let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The bytes that are left.
  var count: Int { bytes.count - position }

  /// The error for what no server says.
  static func nonsense(_ what: String) -> SQLiteError {
    SQLiteError(.lockingProtocol, "the server's message makes no sense: \(what)")
  }

  /// Reads a word.
  mutating func word() throws(SQLiteError) -> UInt64 {
    guard count >= 8 else { throw ReplyReader.nonsense("it ends too early") }
    var word: UInt64 = 0
    for index in (position..<position + 8).reversed() { word = word << 8 | UInt64(bytes[index]) }
    position += 8
    return word
  }

  /// Reads a word as two halves.
  mutating func halves() throws(SQLiteError) -> (UInt32, UInt32) {
    let word = try word()
    return (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
  }

  /// Finds the bytes of a text up to its NUL, and goes behind them.
  mutating func textRange() throws(SQLiteError) -> Range<Int> {
    guard let end = bytes[position...].firstIndex(of: 0) else {
      throw ReplyReader.nonsense("a text has no end")
    }
    defer { position = min(bytes.count, position + (end - position) / 8 * 8 + 8) }
    return position..<end
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
    position = min(bytes.count, position + (length + 7) / 8 * 8)
    return start..<start + length
  }

  /// Reads the types of a row's columns, four bits each, or the mark behind the last row.
  mutating func types(_ columnCount: Int) throws(SQLiteError) -> RowHead {
    var ahead = self
    switch try ahead.word() {
    case 0xeeee_eeee_eeee_eeee:
      self = ahead
      return .more
    case 0xffff_ffff_ffff_ffff:
      self = ahead
      return .end
    default: break
    }
    let size = (columnCount + 15) / 16 * 8
    guard count >= size else { throw ReplyReader.nonsense("a row ends too early") }
    let start = position
    position += size
    return .row(types: start)
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

  /// Reads a value and binds it to a parameter.
  mutating func bindValue(
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
