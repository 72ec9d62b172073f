import ExactText
package import Essentials
package import SQLiteCore

/// The form in which `Data` is stored. Every strategy preserves the bytes exactly.
public enum DataStrategy: Hashable, Sendable, CaseIterable {
  /// A BLOB of the bytes. Empty data is stored as an empty blob, not as NULL.
  case blob
  /// TEXT in base64 with padding and without line breaks.
  case base64
  /// TEXT of uppercase hexadecimal digits, like SQLite's `hex()`. Lowercase digits can be read,
  /// too.
  case hex

  /// Returns the stored form of `data`.
  package func value(for data: Data) -> Value {
    switch self {
    case .blob: .blob(data.byteArray)
    case .base64: .text(data.base64EncodedString())
    case .hex: .text(Hex.uppercaseText(of: data.byteArray))
    }
  }

  /// Returns the data that `value` represents.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` has another storage class or is not in the
  ///   strategy's form.
  package func data(from value: Value) throws(SQLiteError) -> Data {
    switch (self, value) {
    case (.blob, .blob(let bytes)): return Data(bytes)
    case (.base64, .text(let text)):
      guard let data = Data(base64Encoded: text) else {
        throw SQLiteError(.mismatch, "the stored text is not base64")
      }
      return data
    case (.hex, .text(let text)): return try Self.data(hexText: text)
    default: throw value.mismatch(expected: Data.self)
    }
  }

  private static func data(hexText: String) throws(SQLiteError) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hexText.utf8.count / 2)
    var high: UInt8?
    for digit in hexText.utf8 {
      guard let value = Hex.value(digit) else {
        throw SQLiteError(.mismatch, "the stored text is not hexadecimal")
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil else {
      throw SQLiteError(.mismatch, "the stored hexadecimal text has an odd number of digits")
    }
    return Data(bytes)
  }
}

extension Data {
  /// A copy of the bytes in an array that owns its memory from the start, because the optimizer of
  /// Swift 6.3.1 may free the result of the plain array initializer too early.
  package var byteArray: [UInt8] {
    unsafe withUnsafeBytes { unsafe copiedBytes($0.baseAddress, count: $0.count) }
  }
}
