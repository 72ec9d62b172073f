import Essentials
package import ExactText
package import SQLiteCore

/// The dump format in which each line is JSON. A row is an array. Any other line is an object with
/// one member, whose name is the kind of the line.
///
/// A number with a decimal point or an exponent is a REAL, any other number an INTEGER. A BLOB is
/// `{"blob": "base64"}`, and an infinite REAL is `{"real": "inf"}`.
struct JSONLines: DumpFormat {
  func text(of line: DumpLine) -> [UInt8] {
    var text = JSONText()
    if let fields = DumpFields(line) {
      text.bytes.append(UInt8(ascii: "{"))
      text.append(fields.kind)
      text.bytes += ":{".utf8
      for (index, field) in fields.fields.enumerated() {
        if index > 0 { text.bytes.append(UInt8(ascii: ",")) }
        text.append(field.name)
        text.bytes.append(UInt8(ascii: ":"))
        switch field.value {
        case .value(let value): text.append(value)
        case .values(let values): text.append(array: values) { $0.append($1) }
        }
      }
      text.bytes += "}}".utf8
    } else if case .row(let values) = line {
      text.append(array: values) { $0.append($1) }
    }
    return text.bytes
  }

  func line(_ text: [UInt8]) throws -> DumpLine {
    var reader = JSONReader(text)
    let part = try reader.document()
    if case .array(let parts) = part { return .row(try parts.map(value)) }
    guard case .object(let members) = part, members.count == 1,
      case .object(let fields) = members[0].value
    else {
      throw DumpLineError(description: "a line must be an array, or an object with one object")
    }
    return try DumpFields(
      members[0].key, fields.map { (name: $0.key, value: try field($0.value)) }
    ).line()
  }

  private func field(_ part: JSONPart) throws -> DumpFields.Field {
    if case .array(let parts) = part { return .values(try parts.map(value)) }
    return .value(try value(part))
  }

  private func value(_ part: JSONPart) throws -> Value {
    switch part {
    case .value(let value): return value
    case .array: throw DumpLineError(description: "a value must be null, a number, text or a blob")
    case .object(let members):
      if members.count == 1, case .value(.text(let text)) = members[0].value {
        if members[0].key == "blob", let data = Data(base64Encoded: text) {
          return .blob(Array(data))
        }
        if members[0].key == "real", text == "inf" { return .real(.infinity) }
        if members[0].key == "real", text == "-inf" { return .real(-.infinity) }
      }
      throw DumpLineError(description: "an object in a row must be a blob in base64 or a real")
    }
  }
}

extension JSONText {
  /// Appends a value as JSON. A blob or an infinite real becomes an object with the name of the
  /// type as its key.
  package mutating func append(_ value: Value) {
    switch value {
    case .null: bytes += "null".utf8
    case .integer(let integer): bytes += String(integer).utf8
    case .real(let real) where real.isFinite: bytes += real.description.utf8
    case .real(let real): bytes += "{\"real\":\"\(real.description)\"}".utf8
    case .text(let string): append(string)
    case .blob(let blob):
      bytes += "{\"blob\":\"".utf8
      bytes += Data(blob).base64EncodedData()
      bytes += "\"}".utf8
    }
  }
}

/// A parsed part of a JSON line: a value, with INTEGER and REAL distinguished, or a container of
/// parts.
enum JSONPart {
  case value(Value)
  case array([JSONPart])
  case object([(key: String, value: JSONPart)])
}

/// A parser for a line of JSON that distinguishes 1 from 1.0, which Foundation's decoder doesn't.
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
    guard depth < 8 else { throw unexpected("less nesting") }
    skipBlanks()
    guard position < bytes.count else { throw unexpected("a value") }
    switch bytes[position] {
    case UInt8(ascii: "["):
      var parts: [JSONPart] = []
      try list(UInt8(ascii: "]")) { reader in parts.append(try reader.value(depth: depth + 1)) }
      return .array(parts)
    case UInt8(ascii: "{"):
      var members: [(key: String, value: JSONPart)] = []
      try list(UInt8(ascii: "}")) { reader in
        reader.skipBlanks()
        let key = try reader.text()
        reader.skipBlanks()
        try reader.take(UInt8(ascii: ":"))
        members.append((key, try reader.value(depth: depth + 1)))
      }
      return .object(members)
    case UInt8(ascii: "\""): return .value(.text(try text()))
    case UInt8(ascii: "n"):
      for byte in "null".utf8 { try take(byte) }
      return .value(.null)
    default: return .value(try number())
    }
  }

  /// Parses elements that are separated by commas, from the opening bracket to the closing bracket
  /// `end`.
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

  private mutating func number() throws -> Value {
    let start = position
    var isInteger = true
    loop: while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
      case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
        isInteger = false
      default: break loop
      }
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard !isInteger, let real = Double(text), real.isFinite else {
      position = start
      throw unexpected("null, text, a 64-bit integer or a finite number")
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
          throw unexpected("valid UTF-8 before this byte")
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

  /// Parses the four hexadecimal digits after `\u`, and a second escape sequence for a scalar
  /// beyond U+FFFF. Returns the scalar in UTF-8.
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
    DumpLineError(description: "invalid JSON of a dump at byte \(position): expected \(expected)")
  }
}
