package import SQLiteCore

/// The kinds of requests in dqlite's wire protocol.
package enum RequestKind: UInt8 {
  case leader = 0
  case client = 1
  case open = 3
  case prepare = 4
  case execute = 5
  case query = 6
  case finalize = 7
  case executeSQL = 8
  case querySQL = 9
  case add = 12
  case assign = 13
  case remove = 14
  case cluster = 16
  case transfer = 17
}

/// A request of dqlite's wire protocol. It consists of a word with its length and kind, followed by
/// little-endian words of 8 bytes (<https://canonical.com/dqlite/docs/reference/wire-protocol>).
package struct Request {
  /// The maximum number of parameters in a request.
  static let maximumParameterCount = 255

  private var bytes: [UInt8]
  private let kind: RequestKind

  package init(_ kind: RequestKind) {
    self.kind = kind
    bytes = [UInt8](repeating: 0, count: 8)
  }

  /// Appends a little-endian word of 8 bytes.
  package mutating func append(_ word: UInt64) {
    unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends a word with `first` as its lower and `second` as its upper 32 bits.
  mutating func append(_ first: UInt32, _ second: UInt32) {
    append(UInt64(second) << 32 | UInt64(first))
  }

  /// Appends a text and a terminating NUL, padded to a whole word.
  ///
  /// - Parameters:
  ///   - text: The text to append.
  ///   - purpose: A description of the text for the error message, such as "a database's name".
  /// - Throws: `SQLiteError` if the text contains a NUL, at which the node would end the text.
  package mutating func append(_ text: String, named purpose: String) throws(SQLiteError) {
    guard !text.utf8.contains(0) else {
      throw SQLiteError(
        .mismatch, "\(purpose) that contains a NUL character cannot be sent to a cluster")
    }
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
    pad()
  }

  static func tooManyValues(_ count: Int) -> SQLiteError {
    SQLiteError(
      .range,
      "a statement for a cluster has at most \(Request.maximumParameterCount) values, not \(count)"
    )
  }

  /// Appends parameter values: their number, their types, and the values. Appends nothing if there
  /// are none.
  ///
  /// - Throws: `SQLiteError` if there are more than 255 values or if a text contains a NUL.
  mutating func append(_ values: [Value]) throws(SQLiteError) {
    guard !values.isEmpty else { return }
    guard let count = UInt8(exactly: values.count) else {
      throw Request.tooManyValues(values.count)
    }
    bytes.append(count)
    for value in values { bytes.append(ValueType(of: value).rawValue) }
    pad()
    for value in values {
      switch value {
      case .integer(let integer): append(UInt64(bitPattern: integer))
      case .real(let real): append(real.bitPattern)
      case .text(let text): try append(text, named: "a text")
      case .blob(let blob):
        append(UInt64(blob.count))
        bytes.append(contentsOf: blob)
        pad()
      case .null: append(0)
      }
    }
  }

  private mutating func pad() {
    while bytes.count & 7 != 0 { bytes.append(0) }
  }

  /// Returns the bytes to send.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.tooBig` if there are more than `limit` bytes.
  func message(limit: Int) throws(SQLiteError) -> [UInt8] {
    guard bytes.count <= limit, let words = UInt32(exactly: bytes.count / 8 - 1) else {
      throw SQLiteError(
        .tooBig,
        "a request of \(bytes.count) bytes is larger than the limit of \(limit) bytes")
    }
    var message = bytes
    unsafe withUnsafeBytes(of: words.littleEndian) {
      unsafe message.replaceSubrange(0..<4, with: $0)
    }
    message[4] = kind.rawValue
    return message
  }
}

/// The types of values in the wire protocol.
enum ValueType: UInt8 {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  case null = 5
  case unixTime = 9
  case dateText = 10
  case boolean = 11

  init(of value: Value) {
    self =
      switch value {
      case .integer: .integer
      case .real: .real
      case .text: .text
      case .blob: .blob
      case .null: .null
      }
  }
}
