import SQLiteCore

/// An error that an ``AssetStore`` throws, or that a verification or a backup returns for an asset.
///
/// Errors of SQLite are thrown as `SQLiteError`. If a file is missing or damaged, the error
/// concerns only that asset. All others can still be read.
public enum AssetError: Error, Hashable, Sendable {
  /// A file system call, such as `openat` or `fsync`, failed for a path. The number is the value of
  /// `errno`.
  case system(call: String, path: String, number: Int32)
  /// The path of a file is occupied by a symbolic link, a folder, a FIFO or a device.
  case notRegularFile(path: String)
  /// A path is empty or contains a NUL, a file name contains a slash, or a URL isn't a file URL.
  /// The value is the path, the name or the URL.
  case invalidPath(String)
  /// The file to copy belongs to a database that is open in this process. Copy such a database with
  /// a backup.
  case openDatabase(path: String)
  /// The file name extension is longer than 64 characters, or contains other characters than ASCII
  /// letters, digits, `+`, `-`, `_` and inner dots.
  case invalidExtension(String)
  /// The folder contains the assets of another database.
  case foreignFolder(path: String)
  /// There is no asset with this id.
  case noAsset(AssetID)
  /// The file of an asset doesn't exist in the store's folder.
  case missingFile(AssetID, path: String)
  /// The size or the SHA-256 digest of the file differs from that in the asset's row.
  case damagedFile(AssetID, path: String)
  /// The content of the asset is stored in its row, so it has no path.
  case contentInRow(AssetID)
  /// The target folder of a backup isn't empty.
  case folderNotEmpty(path: String)
  /// The row of an asset contains an invalid value, such as a file name outside the folder, or
  /// content that doesn't match the digest. The `id` is a string because it may be the invalid
  /// value.
  case damagedRow(id: String)
  /// The store with this folder was closed.
  case closed(path: String)
  /// The asset tables have the format of another version of this library. The value is the number
  /// of that format, or 0 if the tables contain none.
  case unknownFormat(Int)
}

extension AssetError: CustomStringConvertible {
  /// A description of the error in English. It includes the message of the system, if any.
  public var description: String {
    switch self {
    case .system(let call, let path, let number):
      "\(call) \(path): \(systemMessage(number))"
    case .notRegularFile(let path):
      "\(path) is not a regular file"
    case .invalidPath(let path):
      "\(path.debugDescription) is not a valid file path"
    case .openDatabase(let path):
      "\(path) belongs to an open database, and only SQLite may open it; copy it with a backup"
    case .invalidExtension(let fileExtension):
      "the file extension \(fileExtension.debugDescription) is invalid; use 1 to 64 ASCII "
        + "letters, digits, '+', '-', '_' and inner dots"
    case .foreignFolder(let path):
      "the folder \(path) holds the assets of another database"
    case .noAsset(let id):
      "there is no asset \(id)"
    case .missingFile(let id, let path):
      "the file of asset \(id) is missing: \(path)"
    case .damagedFile(let id, let path):
      "the file of asset \(id) is damaged: \(path)"
    case .contentInRow(let id):
      "the content of asset \(id) is stored in its row, so it has no file"
    case .folderNotEmpty(let path):
      "the folder \(path) is not empty; choose an empty or a new one"
    case .damagedRow(let id):
      "the row of asset \(id) is damaged"
    case .closed(let path):
      "the store of the folder \(path) was closed"
    case .unknownFormat(let format):
      "the asset tables have the format \(format), which this version of the library cannot "
        + "read; update the library"
    }
  }
}
