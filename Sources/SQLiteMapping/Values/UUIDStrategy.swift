import ExactText
package import Essentials
package import SQLiteCore

/// How a `UUID` is stored. Every strategy is exact.
public enum UUIDStrategy: Hashable, Sendable, CaseIterable {
  /// TEXT of 36 uppercase characters, as `uuidString`; lowercase is read too.
  ///
  /// SQLite compares text by its bytes: a key written in lowercase by another program is read, but
  /// not found by `==`.
  case text
  /// A BLOB of the 16 bytes, in the order of the text.
  case blob

  /// Returns what is stored for `uuid`.
  package func value(for uuid: UUID) -> Value {
    switch self {
    case .text: .text(uuid.text)
    case .blob: .blob(uuid.byteArray)
    }
  }

  /// Returns the UUID that `value` stores.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or not such text or
  ///   bytes.
  package func uuid(from value: Value) throws(SQLiteError) -> UUID {
    switch (self, value) {
    case (.text, .text(let text)):
      guard let uuid = UUID(text: text) else {
        throw SQLiteError(.mismatch, "the stored text is not a UUID")
      }
      return uuid
    case (.blob, .blob(let bytes)):
      guard let uuid = UUID(bytes: bytes) else {
        throw SQLiteError(.mismatch, "the stored blob of \(bytes.count) bytes is not a UUID")
      }
      return uuid
    default: throw value.mismatch(expected: UUID.self)
    }
  }
}

extension UUID {
  /// The same as `uuidString`, written straight into the string.
  package var text: String {
    let bytes = byteArray
    return unsafe String(unsafeUninitializedCapacity: 36) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      for index in 0..<16 {
        if Self.isAfterHyphen(index) { output.append(UInt8(ascii: "-")) }
        output.append(Hex.uppercase(bytes[index] >> 4))
        output.append(Hex.uppercase(bytes[index] & 15))
      }
      return unsafe output.finalize(for: buffer)
    }
  }

  /// Makes the UUID that `text` names in either case, nil unless it has exactly that form.
  package init?(text: String) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var digits = text.utf8.makeIterator()
    for index in 0..<16 {
      if Self.isAfterHyphen(index) {
        guard digits.next() == UInt8(ascii: "-") else { return nil }
      }
      // Closures, so that the function of the other module is inlined.
      guard let high = digits.next().flatMap({ Hex.value($0) }),
        let low = digits.next().flatMap({ Hex.value($0) })
      else { return nil }
      bytes.append(high << 4 | low)
    }
    guard digits.next() == nil else { return nil }
    self.init(bytes: bytes)
  }

  private static func isAfterHyphen(_ index: Int) -> Bool {
    index == 4 || index == 6 || index == 8 || index == 10
  }

  /// The 16 bytes.
  package var byteArray: [UInt8] {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    return [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
  }

  /// Makes the UUID of 16 bytes, nil for another number.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
