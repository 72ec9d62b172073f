package import Essentials
package import SQLiteCore

/// The form in which a `UUID` is stored. Every strategy preserves all 16 bytes.
public enum UUIDStrategy: Hashable, Sendable, CaseIterable {
  /// TEXT of 36 uppercase characters, like `uuidString`. Lowercase text can be read, too.
  ///
  /// SQLite compares text byte by byte. If another program has written a key in lowercase, you can
  /// read the row, but a comparison with the UUID doesn't find it, and an update inserts a second
  /// row. For such a table, use ``lowercaseText``.
  case text
  /// TEXT of 36 lowercase characters, the form in which SQLiteData stores UUIDs. Uppercase text can
  /// be read, too.
  ///
  /// Saving, finding and removing records by key use this form. A UUID that you interpolate into
  /// SQL is bound in uppercase, so interpolate `uuid.uuidString.lowercased()`.
  case lowercaseText
  /// A BLOB of the 16 bytes, in the order in which `uuidString` writes them.
  case blob

  /// Returns the stored form of `uuid`.
  package func value(for uuid: UUID) -> Value {
    switch self {
    case .text: .text(uuid.uuidString)
    case .lowercaseText: .text(uuid.uuidString.lowercased())
    case .blob: .blob(uuid.byteArray)
    }
  }

  /// Returns the UUID that `value` represents.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` has another storage class or is not a UUID
  ///   in the strategy's form.
  package func uuid(from value: Value) throws(SQLiteError) -> UUID {
    switch (self, value) {
    case (.text, .text(let text)), (.lowercaseText, .text(let text)):
      guard let uuid = UUID(uuidString: text) else {
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
  /// The 16 bytes of the UUID.
  package var byteArray: [UInt8] {
    unsafe withUnsafeBytes(of: uuid) { unsafe copiedBytes($0.baseAddress, count: $0.count) }
  }

  /// Creates a UUID from 16 bytes, or returns nil for any other number of bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &uuid) { unsafe $0.copyBytes(from: bytes) }
    self.init(uuid: uuid)
  }
}
