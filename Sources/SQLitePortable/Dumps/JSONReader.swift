import ExactText

/// A value of JSON, integers and other numbers told apart as they are spelled.
enum JSONPart: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([JSONPart])
  case object([JSONMember])
}

/// A member of an object.
struct JSONMember: Equatable {
  let key: String
  let value: JSONPart
}

/// Reads a line of JSON exactly: Foundation's decoder does not tell 1 from 1.0.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func document() throws -> JSONPart {
    let part = try value(depth: 0)
    skipBlanks()
    guard position == bytes.count else { throw unexpected("the end of the line") }
    return part
  }

  private mutating func value(depth: Int) throws -> JSONPart {
    guard depth < 8 else { throw unexpected("nothing nested so deep") }
    skipBlanks()
    guard position < bytes.count else { throw unexpected("a value") }
    switch bytes[position] {
    case UInt8(ascii: "["):
      var parts: [JSONPart] = []
      try list(UInt8(ascii: "]")) { reader in parts.append(try reader.value(depth: depth + 1)) }
      return .array(parts)
    case UInt8(ascii: "{"):
      var members: [JSONMember] = []
      try list(UInt8(ascii: "}")) { reader in
        reader.skipBlanks()
        let key = try reader.text()
        reader.skipBlanks()
        try reader.take(UInt8(ascii: ":"))
        members.append(JSONMember(key: key, value: try reader.value(depth: depth + 1)))
      }
      return .object(members)
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    default: return try number()
    }
  }

  /// Reads what is separated by commas, from one bracket to the other.
  private mutating func list(
    _ end: UInt8, _ readElement: (inout JSONReader) throws -> Void
  ) throws {
    position += 1
    skipBlanks()
    if position < bytes.count, bytes[position] == end {
      position += 1
      return
    }
    while true {
      try readElement(&self)
      skipBlanks()
      guard position < bytes.count, bytes[position] == UInt8(ascii: ",") else { break }
      position += 1
    }
    try take(end)
  }

  private mutating func word(_ word: String, _ part: JSONPart) throws -> JSONPart {
    guard bytes[position...].starts(with: word.utf8) else { throw unexpected("“\(word)”") }
    position += word.utf8.count
    return part
  }

  private mutating func number() throws -> JSONPart {
    let start = position
    var isInteger = true
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
      case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
        isInteger = false
      default:
        guard position > start else { throw unexpected("a value") }
        return try number(start, isInteger)
      }
      position += 1
    }
    return try number(start, isInteger)
  }

  private mutating func number(_ start: Int, _ isInteger: Bool) throws -> JSONPart {
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard !isInteger, let real = Double(text), real.isFinite else {
      position = start
      throw unexpected("an integer of 64 bits or a finite number")
    }
    return .real(real)
  }

  private mutating func text() throws -> String {
    try take(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") {
        guard let text = String(validating: text, as: UTF8.self) else {
          throw unexpected("text in UTF-8 before here")
        }
        return text
      }
      if byte == UInt8(ascii: "\\") {
        text.append(contentsOf: try escaped())
      } else {
        text.append(byte)
      }
    }
    throw unexpected("the end of a text")
  }

  private mutating func escaped() throws -> [UInt8] {
    guard position < bytes.count else { throw unexpected("an escape") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "u"): return try scalar()
    default: throw unexpected("an escape")
    }
  }

  /// Reads four hexadecimal digits, or twice four for a scalar beyond U+FFFF.
  private mutating func scalar() throws -> [UInt8] {
    var code = try unit()
    if (0xd800..<0xdc00).contains(code) {
      try take(UInt8(ascii: "\\"))
      try take(UInt8(ascii: "u"))
      let low = try unit()
      guard (0xdc00..<0xe000).contains(low) else { throw unexpected("a low surrogate") }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw unexpected("a high surrogate") }
    return Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  private mutating func unit() throws -> UInt32 {
    guard bytes.count - position >= 4 else { throw unexpected("four digits") }
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Hex.value(bytes[position]) else {
        throw unexpected("a hexadecimal digit")
      }
      code = code << 4 | UInt32(digit)
      position += 1
    }
    return code
  }

  private mutating func take(_ byte: UInt8) throws {
    guard position < bytes.count, bytes[position] == byte else {
      throw unexpected("“\(Unicode.Scalar(byte))”")
    }
    position += 1
  }

  private mutating func skipBlanks() {
    while position < bytes.count, [0x20, 9, 10, 13].contains(bytes[position]) { position += 1 }
  }

  private func unexpected(_ expected: String) -> DumpLineError {
    DumpLineError(description: "not the JSON of a dump: byte \(position): expected \(expected)")
  }
}
