import ExactText
import SQLiteCore

extension PagePosition: LosslessStringConvertible {
  /// The position as text, for example for the URL of the next page.
  ///
  /// It consists of letters, digits, hyphens and periods, which need no escaping in URLs. It
  /// contains the sort keys of the last object, and is neither encrypted nor signed. If a client
  /// changes it, the page begins elsewhere, or fetching it throws. The filter of the query still
  /// applies.
  public var description: String {
    ([order.hexadecimal, "\(key)"] + values.map(PagePosition.field)).joined(separator: ".")
  }

  /// Creates a position from its ``description``. Returns nil if the text isn't the description of
  /// a position.
  ///
  /// The text can come from any client. If it is the position of a query with other sort keys,
  /// fetching the page throws `SQLiteError` with `ResultCode.misuse`.
  ///
  /// - Parameter description: The text of a position.
  public init?(_ description: String) {
    let fields = description.split(separator: ".", omittingEmptySubsequences: false)
    guard fields.count >= 2, let order = UInt64(hexadecimal: fields[0]), let key = Int64(fields[1])
    else { return nil }
    var values: [Value] = []
    for field in fields[2...] {
      guard let value = PagePosition.value(field) else { return nil }
      values.append(value)
    }
    self.init(values: values, key: key, order: order)
  }

  /// Returns a letter for the storage class, followed by the content in decimal or hexadecimal
  /// digits.
  private static func field(for value: Value) -> String {
    switch value {
    case .null: "n"
    case .integer(let integer): "i\(integer)"
    case .real(let real): "r\(real.bitPattern.hexadecimal)"
    case .text(let text): "t\(Hex.lowercaseText(of: Array(text.utf8)))"
    case .blob(let bytes): "b\(Hex.lowercaseText(of: bytes))"
    }
  }

  private static func value(_ field: Substring) -> Value? {
    let content = field.dropFirst()
    switch field.first {
    case "n": return content.isEmpty ? .null : nil
    case "i": return Int64(content).map(Value.integer)
    case "r":
      let real = UInt64(hexadecimal: content).map(Double.init(bitPattern:))
      // SQLite doesn't store NaN.
      return real.flatMap { $0.isNaN ? nil : .real($0) }
    case "t":
      return bytes(content).flatMap { String(validating: $0, as: UTF8.self) }.map(Value.text)
    case "b": return bytes(content).map(Value.blob)
    default: return nil
    }
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    guard digits.utf8.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits.utf8 {
      guard let value = Hex.value(digit) else { return nil }
      if let half = high { bytes.append(half << 4 | value) }
      high = high == nil ? value : nil
    }
    return bytes
  }
}
