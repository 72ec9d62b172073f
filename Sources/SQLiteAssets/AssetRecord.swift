import SQLiteCore

/// What a row says of an asset.
///
/// Size and digest are of the content as it was put, so they are known without reading the file.
public struct AssetRecord: Hashable, Sendable {
  /// The asset's lasting identity.
  public let id: AssetID
  /// The number of bytes.
  public let size: Int
  /// The SHA-256 of the bytes.
  public let sha256: SHA256.Digest
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

  /// Takes the values of a row; nil if no store can have written them.
  init?(id: Value, file: Value, size: Value, sha256: Value, isInRow: Bool) {
    guard case .text(let id) = id, let id = AssetID(id),
      case .text(let file) = file, let file = AssetFileName(file),
      case .integer(let size) = size, let size = Int(exactly: size), size >= 0,
      case .blob(let sha256) = sha256, let sha256 = SHA256.Digest(bytes: sha256)
    else { return nil }
    self.id = id
    self.file = file
    self.size = size
    self.sha256 = sha256
    self.isInRow = isInRow
  }
}

/// A content that has been written to a file, which no row names yet, or is to be written to a row.
struct Content: Sendable {
  let file: AssetFileName
  let size: Int
  let sha256: SHA256.Digest
  /// The content itself, if it is to be in the row.
  let bytes: [UInt8]?
}
