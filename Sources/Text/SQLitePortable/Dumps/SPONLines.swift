import Essentials
import SPON
import SQLiteCore

/// The dump format in which each line is SPON.
struct SPONLines: DumpFormat {
  func text(of line: DumpLine) -> [UInt8] {
    var text = TextBuffer()
    if let fields = DumpFields(line) {
      append(fields, to: &text)
    } else if case .row(let values) = line {
      append(values, to: &text)
    }
    return text.bytes
  }

  private func append(_ values: [Value], to text: inout TextBuffer) {
    text.append("@array[")
    for (index, value) in values.enumerated() {
      if index > 0 { text.append(", ") }
      append(value, isMember: false, to: &text)
    }
    text.append("]")
  }

  private func append(_ value: Value, isMember: Bool, to text: inout TextBuffer) {
    switch value {
    case .null: text.appendNull()
    case .integer(let integer): text.append(integer, isMember: isMember)
    case .real(let real): text.append(plain: real.description, .double, isMember: isMember)
    case .text(let string): text.append(string, .text, isMember: isMember)
    case .blob(let bytes):
      text.append(plain: Data(bytes).base64EncodedString(), .data, isMember: isMember)
    }
  }

  private func append(_ fields: DumpFields, to text: inout TextBuffer) {
    text.append("@obj:")
    text.bytes += fields.kind.utf8
    text.append("<")
    for (index, field) in fields.fields.enumerated() {
      if index > 0 { text.append(" ") }
      text.append(key: field.name)
      switch field.value {
      case .value(let value): append(value, isMember: true, to: &text)
      case .values(let values):
        text.append("=")
        append(values, to: &text)
      }
    }
    text.append(">")
  }

  func line(_ text: [UInt8]) throws -> DumpLine {
    let document = try Document(text, maximumDepth: 3)
    switch document.tokens[0].kind {
    case .scalar: throw DumpLineError(description: "a line must be an object or an array")
    case .array: return .row(try values(of: 0, in: document))
    case .object:
      let kind = document.typeName(of: 0)
      let fields = try document.children(of: 0).map { member in
        let isList = document.tokens[member].kind == .array
        return (
          name: document.key(of: member),
          value: isList
            ? DumpFields.Field.values(try values(of: member, in: document))
            : .value(try value(member, of: document))
        )
      }
      return try DumpFields(kind, fields).line()
    }
  }

  private func values(of array: Int, in document: Document) throws -> [Value] {
    try document.children(of: array).map { try value($0, of: document) }
  }

  private func value(_ token: Int, of document: Document) throws -> Value {
    guard document.tokens[token].kind == .scalar else {
      throw DumpLineError(description: "a value must not be an object or an array")
    }
    switch document.tokens[token].designator {
    case .null: return .null
    case .text: return .text(document.text(of: token))
    case .integer:
      guard let integer = document.integer(of: token, as: Int64.self) else {
        throw DumpLineError(
          description: "a value is not a 64-bit integer")
      }
      return .integer(integer)
    case .double:
      guard let real = document.double(of: token), !real.isNaN else {
        throw DumpLineError(description: "a value is not a number")
      }
      return .real(real)
    case .data:
      guard let data = Data(base64Encoded: document.text(of: token)) else {
        throw DumpLineError(description: "a blob is not valid base64")
      }
      return .blob(Array(data))
    default:
      throw DumpLineError(
        description: "SQLite cannot store \(document.tokens[token].designator.name)")
    }
  }
}
