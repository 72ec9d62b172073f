import ExactText
import SQLiteCore

/// The row of an asset, with the size and digest of its content.
///
/// The store records size and digest when the content is written, so a record doesn't require
/// reading the file.
public struct AssetRecord: Hashable, Sendable {
  /// The permanent identity of the asset.
  public let id: AssetID
  /// The size of the content in bytes.
  public let size: Int
  /// The SHA-256 digest of the content.
  public let sha256: AssetDigest
  /// The name of the file with the content, which changes when the content is replaced. If the
  /// content is in the row, no such file exists, and only the extension of the name is used.
  package let file: AssetFileName
  /// A Boolean value that indicates whether the content is stored in the row instead of a file.
  public let isInRow: Bool

  /// The file name extension without the dot, or nil if there is none.
  public var fileExtension: String? { file.fileExtension }

  init(id: AssetID, content: Content) {
    self.id = id
    size = content.size
    sha256 = content.sha256
    file = content.file
    isInRow = content.bytes != nil
  }

  /// Creates a record from the values of a row. Returns nil if a value is invalid.
  fileprivate init?(_ row: AssetRow) {
    guard case .text(let id) = row.id, let id = AssetID(id),
      case .text(let file) = row.file, let file = AssetFileName(file),
      case .integer(let size) = row.size, let size = Int(exactly: size), size >= 0,
      case .blob(let sha256) = row.sha256, let sha256 = AssetDigest(bytes: sha256)
    else { return nil }
    self.id = id
    self.file = file
    self.size = size
    self.sha256 = sha256
    isInRow = row.isInRow
  }
}

/// The values of an asset's row, which may be invalid.
struct AssetRow {
  let id, file, size, sha256: Value
  let isInRow: Bool

  /// Returns the row as a record, or throws ``AssetError/damagedRow(id:)`` if a value is invalid.
  func record() throws(AssetError) -> AssetRecord {
    guard let record = AssetRecord(self) else {
      if case .text(let id) = id { throw .damagedRow(id: id) }
      throw .damagedRow(id: "\(id)")
    }
    return record
  }
}

/// Content that no row references yet. It is in a pending file, or in memory if it will be stored
/// in the row.
struct Content: Sendable {
  let file: AssetFileName
  let size: Int
  let sha256: AssetDigest
  /// The content if it will be stored in the row; nil if it is in a file.
  let bytes: [UInt8]?
  /// Whether the content of the file is durable already. The name of the file may not be durable
  /// yet.
  let isSynced: Bool
}

/// The name of a file in a store: 32 random hexadecimal digits and an optional extension.
///
/// Other names are rejected, so that a name in a manipulated row can't refer to a path outside the
/// folder.
package struct AssetFileName: Hashable, Sendable {
  /// The full name of the file, including its extension.
  package let text: String

  /// Creates a new random name.
  ///
  /// - Parameter fileExtension: The extension without the dot; nil or empty for no extension.
  /// - Throws: ``AssetError/invalidExtension(_:)`` if the extension is longer than 64 characters or
  ///   contains other characters than ASCII letters, digits, `+`, `-`, `_` and inner dots.
  package init(extension fileExtension: String?) throws(AssetError) {
    let random = UInt128.random(in: 0...UInt128.max).hexadecimal
    guard let fileExtension, !fileExtension.isEmpty else {
      text = random
      return
    }
    guard AssetFileName.isExtension(Substring(fileExtension)) else {
      throw .invalidExtension(fileExtension)
    }
    text = "\(random).\(fileExtension)"
  }

  /// Creates a name from its text. Returns nil if it isn't a valid name of a store's file.
  package init?(_ text: String) {
    guard UInt128(hexadecimal: text.prefix(32)) != nil else { return nil }
    let rest = text.dropFirst(32)
    guard rest.isEmpty || rest.hasPrefix(".") && AssetFileName.isExtension(rest.dropFirst()) else {
      return nil
    }
    self.text = text
  }

  /// The text after the first dot, or nil if there is none.
  package var fileExtension: String? {
    text.utf8.count > 33 ? String(text.dropFirst(33)) : nil
  }

  private static func isExtension(_ text: Substring) -> Bool {
    // Dots are allowed only between other characters.
    text.utf8.count <= 64
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { part in !part.isEmpty && part.allSatisfy(isPlain) }
  }

  /// Returns whether a byte is an ASCII letter, a digit, `+`, `-` or `_`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
