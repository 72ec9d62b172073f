import ExactText
import SQLiteCore

/// The row of an asset.
///
/// Size and digest are of the content as it was put, so they are known without reading the file.
public struct AssetRecord: Hashable, Sendable {
  /// The asset's lasting identity.
  public let id: AssetID
  /// The number of bytes.
  public let size: Int
  /// The SHA-256 of the bytes.
  public let sha256: AssetDigest
  /// The file that holds the content. A replaced content is another file.
  package let file: AssetFileName
  /// Whether the content is in the row and not in a file.
  public let isInRow: Bool

  /// The extension of the file's name, without the dot, or nil.
  public var fileExtension: String? { file.fileExtension }

  init(id: AssetID, content: Content) {
    self.id = id
    size = content.size
    sha256 = content.sha256
    file = content.file
    isInRow = content.bytes != nil
  }

  /// Creates a record from the values of a row, or nil if no store can have written them.
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

/// The values in the row of an asset, which may be ones that no store wrote.
struct AssetRow {
  let id, file, size, sha256: Value
  let isInRow: Bool

  /// Returns the record, or throws ``AssetError/damagedRow(id:)``.
  func record() throws(AssetError) -> AssetRecord {
    guard let record = AssetRecord(self) else {
      if case .text(let id) = id { throw .damagedRow(id: id) }
      throw .damagedRow(id: "\(id)")
    }
    return record
  }
}

/// A content that has been written to a file, which no row names yet, or is to be written to a row.
struct Content: Sendable {
  let file: AssetFileName
  let size: Int
  let sha256: AssetDigest
  /// The content itself, if it is to be in the row.
  let bytes: [UInt8]?
  /// Whether the content of the file survives a power cut already; its name may not.
  let isSynced: Bool
}

/// The name of a file in a store: 32 random hexadecimal digits, and perhaps an extension.
///
/// No other text becomes one, so that a name from a row that somebody wrote by hand cannot lead
/// out of the folder.
package struct AssetFileName: Hashable, Sendable {
  /// The whole name.
  package let text: String

  /// Makes a name that no file has.
  ///
  /// - Parameter fileExtension: What follows the dot; nothing does if it is nil or empty.
  /// - Throws: ``AssetError/invalidExtension(_:)``.
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

  /// Takes the name of a file of the store; nil for anything else.
  package init?(_ text: String) {
    guard UInt128(hexadecimal: text.prefix(32)) != nil else { return nil }
    let rest = text.dropFirst(32)
    guard rest.isEmpty || rest.hasPrefix(".") && AssetFileName.isExtension(rest.dropFirst()) else {
      return nil
    }
    self.text = text
  }

  /// The text behind the first dot, or nil.
  package var fileExtension: String? {
    text.utf8.count > 33 ? String(text.dropFirst(33)) : nil
  }

  private static func isExtension(_ text: Substring) -> Bool {
    // A dot stands between other bytes.
    text.utf8.count <= 64
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { part in !part.isEmpty && part.allSatisfy(isPlain) }
  }

  /// Whether `byte` is a letter, a digit, `+`, `-` or `_` of ASCII.
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
