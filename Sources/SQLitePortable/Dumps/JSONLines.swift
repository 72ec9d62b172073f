import Essentials
import SQLiteCore

/// Lines of JSON: a row is an array, anything else an object with one member that names its kind.
///
/// A number with a point or an exponent is a real, one without an integer. Bytes are
/// `{"blob": "base64"}`, infinite reals `{"real": "inf"}`.
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
        case .text(let string): text.append(string)
        case .integer(let integer): text.bytes += String(integer).utf8
        case .texts(let strings): text.append(array: strings) { $0.append($1) }
        }
      }
      text.bytes += "}}".utf8
    } else if case .row(let values) = line {
      text.append(array: values) { append($1, to: &$0) }
    }
    return text.bytes
  }

  private func append(_ value: Value, to text: inout JSONText) {
    switch value {
    case .null: text.bytes += "null".utf8
    case .integer(let integer): text.bytes += String(integer).utf8
    case .real(let real) where real.isFinite: text.bytes += real.description.utf8
    case .real(let real): text.bytes += "{\"real\":\"\(real.description)\"}".utf8
    case .text(let string): text.append(string)
    case .blob(let bytes):
      text.bytes += "{\"blob\":\"".utf8
      text.bytes += Data(bytes).base64EncodedData()
      text.bytes += "\"}".utf8
    }
  }

  func line(_ text: [UInt8]) throws -> DumpLine {
    var reader = JSONReader(text)
    let part = try reader.document()
    if case .array(let parts) = part { return .row(try parts.map(value)) }
    guard case .object(let members) = part, members.count == 1,
      case .object(let fields) = members[0].value
    else { throw DumpLineError(description: "a line is an array, or an object with one object") }
    return try DumpFields(
      members[0].key, fields.map { (name: $0.key, value: try field($0.value)) }
    ).line()
  }

  private func field(_ part: JSONPart) throws -> DumpFields.Field {
    switch part {
    case .text(let text): return .text(text)
    case .integer(let integer): return .integer(integer)
    case .array(let parts):
      return .texts(
        try parts.map { part in
          guard case .text(let text) = part else {
            throw DumpLineError(description: "a list has something else than text in it")
          }
          return text
        })
    default: throw DumpLineError(description: "a field has a wrong type")
    }
  }

  private func value(_ part: JSONPart) throws -> Value {
    switch part {
    case .null: return .null
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .text(let text): return .text(text)
    case .object(let members) where members.count == 1:
      if case .text(let text) = members[0].value {
        if members[0].key == "blob", let data = Data(base64Encoded: text) {
          return .blob(Array(data))
        }
        if members[0].key == "real", text == "inf" { return .real(.infinity) }
        if members[0].key == "real", text == "-inf" { return .real(-.infinity) }
      }
      throw DumpLineError(description: "an object in a row is no blob in base64 and no real")
    default: throw DumpLineError(description: "a value is null, a number, text or a blob")
    }
  }
}
