import SQLiteCore

/// A failure of the asset store.
///
/// SQLite's own failures stay `SQLiteError`s. Where one asset's file is missing or damaged, the
/// error belongs to that asset alone: every other one stays readable.
public enum AssetError: Error, Hashable, Sendable {
  /// A call into the file system failed, such as `openat` or `fsync`, with an `errno`.
  case system(call: String, path: String, number: Int32)
  /// A link, a folder, a FIFO or a device stands where a file of the store should be.
  case notRegularFile(path: String)
  /// A path that is empty or contains a NUL, or a URL of something else than a file.
  case invalidPath(String)
  /// The file belongs to a database that is open in this process: a backup copies such a file.
  case openDatabase(path: String)
  /// A file extension with anything but ASCII letters, digits, `+`, `-`, `_` and inner dots, or
  /// with more than 64 of them.
  case invalidExtension(String)
  /// The folder holds the assets of another database.
  case foreignFolder(path: String)
  /// No row has this id.
  case noAsset(AssetID)
  /// The asset's row names a file that is not in the store's folder.
  case missingFile(AssetID, path: String)
  /// The file's size or SHA-256 is not what the asset's row says.
  case damagedFile(AssetID, path: String)
  /// The content of the asset is in its row, so that it has no path.
  case contentInRow(AssetID)
  /// A folder for a copy of the store is not empty.
  case folderNotEmpty(path: String)
  /// The asset's row holds something that no store wrote, such as a file name outside the folder.
  case damagedRow(id: String)
  /// The store of the folder was closed.
  case closed(path: String)
  /// The tables of the store have a layout of another version of this library.
  case unknownFormat(Int)
}

extension AssetError: CustomStringConvertible {
  /// The error in English, with the system's own words.
  public var description: String {
    switch self {
    case .system(let call, let path, let number):
      "\(call) \(path): \(systemMessage(number))"
    case .notRegularFile(let path):
      "\(path) is not a regular file"
    case .invalidPath(let path):
      "\(path.debugDescription) is not the path of a file"
    case .openDatabase(let path):
      "\(path) belongs to an open database, and only SQLite may open it; a backup copies it"
    case .invalidExtension(let fileExtension):
      "the file extension \(fileExtension.debugDescription) is not made of 1 to 64 ASCII letters, "
        + "digits, '+', '-', '_' and inner dots"
    case .foreignFolder(let path):
      "the folder \(path) holds the assets of another database"
    case .noAsset(let id):
      "there is no asset \(id)"
    case .missingFile(let id, let path):
      "the file of asset \(id) is missing: \(path)"
    case .damagedFile(let id, let path):
      "the file of asset \(id) is damaged: \(path)"
    case .contentInRow(let id):
      "the content of asset \(id) is in its row and not in a file"
    case .folderNotEmpty(let path):
      "the folder \(path) is not empty"
    case .damagedRow(let id):
      "the row of asset \(id) is damaged"
    case .closed(let path):
      "the store of the folder \(path) was closed"
    case .unknownFormat(let format):
      "the asset tables have the format \(format), which this version of the library cannot read"
    }
  }
}
