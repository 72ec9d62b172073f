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
  /// The length of the text in bytes.
  static let textLength = 36

  /// The same as `uuidString`, written straight into the string.
  package var text: String {
    unsafe String(unsafeUninitializedCapacity: Self.textLength) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      append(to: &output)
      return unsafe output.finalize(for: buffer)
    }
  }

  /// Appends the ``textLength`` bytes of the text to `output`.
  func append(to output: inout OutputSpan<UInt8>) {
    let (high, low) = halves
    for index in 0..<Self.textLength {
      guard !Self.isHyphen(index) else {
        output.append(UInt8(ascii: "-"))
        continue
      }
      let digit = Self.digits(before: index)
      let half = digit < 16 ? high : low
      output.append(
        Hex.uppercase(UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 15))
    }
  }

  /// Makes the UUID that `text` names in either case, nil unless it has exactly that form.
  package init?(text: String) {
    var text = text
    guard let uuid = text.withUTF8({ UUID(utf8: unsafe $0.span) }) else { return nil }
    self = uuid
  }

  /// Makes the UUID that UTF-8 `text` names in either case, nil unless it has exactly that form.
  init?(utf8 text: Span<UInt8>) {
    guard text.count == Self.textLength else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for index in 0..<Self.textLength {
      if Self.isHyphen(index) {
        guard text[index] == UInt8(ascii: "-") else { return nil }
      } else if let digit = Hex.value(text[index]) {
        high = high << 4 | low >> 60
        low = low << 4 | UInt64(digit)
      } else {
        return nil
      }
    }
    self.init(high, low)
  }

  @inline(__always)
  private static func isHyphen(_ index: Int) -> Bool {
    index == 8 || index == 13 || index == 18 || index == 23
  }

  /// The number of digits before a byte of the text.
  @inline(__always)
  private static func digits(before index: Int) -> Int {
    index - (index > 8 ? 1 : 0) - (index > 13 ? 1 : 0) - (index > 18 ? 1 : 0)
      - (index > 23 ? 1 : 0)
  }

  /// The 16 bytes as two numbers, the first byte as the highest.
  private var halves: (UInt64, UInt64) {
    unsafe withUnsafeBytes(of: uuid) { bytes in
      unsafe (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  private init(_ high: UInt64, _ low: UInt64) {
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &uuid) { bytes in
      unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
      unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: uuid)
  }

  /// The 16 bytes.
  package var byteArray: [UInt8] {
    unsafe withUnsafeBytes(of: uuid) { unsafe copiedBytes($0.baseAddress, count: $0.count) }
  }

  /// Makes the UUID of 16 bytes, nil for another number.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(
      bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    )
  }
}
