import ExactText
package import Essentials
package import SQLiteCore

/// How `Data` is stored. Every strategy is exact.
public enum DataStrategy: Hashable, Sendable, CaseIterable {
  /// A BLOB of the bytes; empty data is an empty blob and not NULL.
  case blob
  /// TEXT in base64 with padding, in one line.
  case base64
  /// TEXT in uppercase hexadecimal digits, as SQLite's `hex()`; lowercase is read too.
  case hex

  /// Returns what is stored for `data`.
  package func value(for data: Data) -> Value {
    switch self {
    case .blob: .blob(data.byteArray)
    case .base64: .text(data.base64EncodedString())
    case .hex: .text(Hex.uppercaseText(of: data.byteArray))
    }
  }

  /// Returns the data that `value` stores.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or not such text.
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
  /// The bytes as an array, copied into memory that is the array's own from the start (the plain
  /// initializer may be freed early by Swift 6.3.1's optimizer).
  package var byteArray: [UInt8] {
    unsafe withUnsafeBytes { unsafe copiedBytes($0.baseAddress, count: $0.count) }
  }
}
