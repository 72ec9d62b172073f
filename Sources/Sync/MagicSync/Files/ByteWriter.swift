import SQLiteCore

/// Writes the parts of a sync file. ``ByteReader`` reads them.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ number: Int64) {
    bytes.append(varint: UInt64(bitPattern: number))
  }

  mutating func append(_ content: [UInt8]) {
    bytes.append(varint: UInt64(content.count))
    bytes += content
  }

  mutating func append(_ text: String) { append(Array(text.utf8)) }

  mutating func append(_ texts: [String]) {
    append(Int64(texts.count))
    for text in texts { append(text) }
  }

  mutating func append(_ map: [String: Int64]) {
    append(Int64(map.count))
    for (key, number) in map.sorted(by: { $0.key < $1.key }) {
      append(key)
      append(number)
    }
  }
}

/// Reads the parts of a sync file. It never reads beyond the end, and never allocates more memory
/// than the file's size.
struct ByteReader {
  private var cursor: ChangesetCursor

  init(_ bytes: [UInt8]) { cursor = ChangesetCursor(bytes) }

  var isAtEnd: Bool { cursor.isAtEnd }

  mutating func number() throws(SQLiteError) -> Int64 { Int64(bitPattern: try cursor.varint()) }

  /// Reads a number of a batch or the like, or a time.
  mutating func ordinal() throws(SQLiteError) -> Int64 { try SyncNumber.checked(number()) }

  /// Reads the number of elements that follow. Each takes at least one byte.
  mutating func count() throws(SQLiteError) -> Int {
    let count = try cursor.varint()
    guard count <= UInt64(cursor.left) else { throw cursor.damage("a count exceeds the data") }
    return Int(count)
  }

  mutating func content() throws(SQLiteError) -> [UInt8] {
    let count = try count()
    let start = cursor.position
    try cursor.skip(count)
    return Array(cursor.bytes[start..<start + count])
  }

  mutating func text() throws(SQLiteError) -> String {
    guard let text = String(validating: try content(), as: UTF8.self) else {
      throw cursor.damage("a text is not valid UTF-8")
    }
    return text
  }

  mutating func texts() throws(SQLiteError) -> [String] {
    var texts: [String] = []
    for _ in 0..<(try count()) { texts.append(try text()) }
    return texts
  }

  mutating func map() throws(SQLiteError) -> [String: Int64] {
    var map: [String: Int64] = [:]
    for _ in 0..<(try count()) {
      let key = try text()
      map[key] = try ordinal()
    }
    return map
  }
}

extension ByteWriter {
  mutating func append(_ value: Value) {
    switch value {
    case .null: append(Int64(FieldCode.null))
    case .integer(let integer):
      append(Int64(FieldCode.integer))
      append(integer)
    case .real(let real):
      append(Int64(FieldCode.real))
      append(Int64(bitPattern: real.bitPattern))
    case .text(let text):
      append(Int64(FieldCode.text))
      append(text)
    case .blob(let blob):
      append(Int64(FieldCode.blob))
      append(blob)
    }
  }
}

extension ByteReader {
  mutating func value() throws(SQLiteError) -> Value {
    switch UInt8(truncatingIfNeeded: try number()) {
    case FieldCode.integer: return .integer(try number())
    case FieldCode.real: return .real(Double(bitPattern: UInt64(bitPattern: try number())))
    case FieldCode.text: return .text(try text())
    case FieldCode.blob: return .blob(try content())
    default: return .null
    }
  }
}
