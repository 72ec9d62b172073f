import Platform
import SQLiteAssets
import SystemFiles

/// The asset files of a closed store, from which the asset folders of its copies are created.
///
/// A hard link would take a third of the time of a copy, but then a program that writes to a file
/// in place would change it in all copies.
final class AssetFiles: Sendable {
  private struct Item: Sendable {
    let name: String
    /// The content of a small file; nil to read the file each time.
    let content: [UInt8]?
  }

  /// The maximum size of a file whose content is kept in memory, and of all these files together.
  private static let limits = (file: 64 << 10, total: 8 << 20)

  /// The size in bytes of the pieces in which large files are copied.
  private static let pieceSize = 256 << 10

  private let files: Folder
  private let items: [Item]
  /// The names of the marker files with the identity of the store.
  private let marks: [String]
  private let operations: any FileOperations

  /// Lists the files of a store. Returns nil if the store has none.
  ///
  /// - Parameters:
  ///   - path: The path of the asset folder, which must stay unchanged from now on.
  ///   - operations: The file system calls.
  init?(
    folder path: String, _ operations: any FileOperations = SystemFileOperations()
  ) throws(AssetError) {
    guard let root = try Folder.existing(path: path, operations),
      let files = try root.folder("files")
    else { return nil }
    var items: [Item] = []
    var total = 0
    for name in try files.names() {
      guard let file = try files.file(name) else { continue }
      let size = try file.size
      let isKept = size <= AssetFiles.limits.file && total + size <= AssetFiles.limits.total
      if isKept { total += size }
      items.append(Item(name: name, content: isKept ? try file.readAll() : nil))
    }
    guard !items.isEmpty else { return nil }
    self.files = files
    self.items = items
    self.operations = operations
    marks = try root.names().filter { $0.hasPrefix("store-") }
  }

  /// Copies the files to a new asset folder, without syncing them. Large files are copied as
  /// copy-on-write clones if the file system supports it. Does nothing if the folder exists.
  ///
  /// - Parameter path: The path of the new folder.
  /// - Throws: ``AssetError`` if a file can't be copied. The folder doesn't exist then.
  @Sendable func copy(to path: String) throws(AssetError) {
    do {
      try addingPath(path) { () throws(SystemFailure) in try operations.makeFolder(path: path) }
    } catch .system(_, _, EEXIST) {
      return
    }
    do throws(AssetError) {
      let root = try Folder.open(path: path, operations)
      let target = try root.makeFolder("files")
      var clones = true
      for item in items { try copy(item, to: target, cloning: &clones) }
      _ = try root.makeFolder("pending")
      // The marks are last, because a folder without marks isn't complete.
      for mark in marks { _ = try root.makeFile(mark) }
    } catch {
      // The copying has failed, so don't throw another error.
      try? remove(path)
      throw error
    }
  }

  private func copy(
    _ item: Item, to target: Folder, cloning clones: inout Bool
  ) throws(AssetError) {
    if let content = item.content {
      return try target.makeFile(item.name).write(unsafe content.span.bytes)
    }
    guard let source = try files.file(item.name) else {
      throw .system(call: "openat", path: files.path(of: item.name), number: ENOENT)
    }
    if clones {
      clones = (try? target.clone(source, as: item.name)) != nil
      if clones { return }
    }
    let copy = try target.makeFile(item.name)
    var offset = 0
    while true {
      let piece = try source.read(AssetFiles.pieceSize, at: offset)
      try copy.write(unsafe piece.span.bytes)
      offset += piece.count
      if piece.count < AssetFiles.pieceSize { return }
    }
  }

  private func remove(_ path: String) throws {
    guard let root = try Folder.existing(path: path, operations) else { return }
    if let files = try root.folder("files") {
      for name in try files.names() { try files.remove(name) }
    }
    for name in ["files", "pending"] { try root.removeFolder(name) }
    for mark in marks { try root.remove(mark) }
    try operations.removeFolder(path, in: SystemFileOperations.workingFolder)
  }
}
