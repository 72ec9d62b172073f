import SystemFiles
import Platform
import Synchronization

/// The folders of a store.
///
/// `files` holds the contents that committed rows name, all in one folder, so that moving a thousand
/// of them changes one folder and not 256; file systems find a name among millions by an index.
/// `pending` has a folder for each opener, with contents whose rows may not be committed yet. An
/// empty file `store-…` bears the identity of the database, so that no other one uses the folder.
final class StoreFolder: Sendable {
  private struct Folders {
    let root: Folder
    let files: Folder
    let pending: Folder
  }

  /// The absolute path.
  let path: String
  /// Nil once the store is closed. Calls in progress keep the folders that they use.
  private let folders: Mutex<Folders?>

  var root: Folder { get throws(AssetError) { try opened().root } }
  var files: Folder { get throws(AssetError) { try opened().files } }
  var pending: Folder { get throws(AssetError) { try opened().pending } }

  init(
    path: String, identity: AssetID, _ operations: any FileOperations
  ) throws(AssetError) {
    let root = try Folder.open(path: path, operations)
    let lock = try root.locked()
    defer { withExtendedLifetime(lock) {} }
    let names = try root.names()
    let marks = StoreFolder.marks(names)
    guard marks.isEmpty || marks.contains(identity) else { throw .foreignFolder(path: root.path) }
    let isComplete = names.contains("files") && names.contains("pending") && !marks.isEmpty
    let files = try root.makeFolder("files")
    let pending = try root.makeFolder("pending")
    if marks.isEmpty { _ = try root.makeFile(StoreFolder.mark(identity)) }
    if !isComplete { try root.sync() }
    self.path = root.path
    folders = Mutex(Folders(root: root, files: files, pending: pending))
  }

  private func opened() throws(AssetError) -> Folders {
    guard let folders = folders.withLock({ $0 }) else { throw .closed(path: path) }
    return folders
  }

  /// Closes the folders. Each later call throws ``AssetError/closed(path:)``.
  func close() {
    // The descriptors are closed when the lock is free again.
    _ = folders.withLock { folders in
      defer { folders = nil }
      return folders
    }
  }

  /// The path of a content in `files`, for messages.
  func path(of name: AssetFileName) -> String { "\(path)/files/\(name.text)" }

  /// The identity of the store whose folder is at `path`, or nil if there is none or more than one.
  static func identity(
    at path: String, _ operations: any FileOperations
  ) throws(AssetError) -> AssetID? {
    let marks = marks(try Folder.open(path: path, operations).names())
    return marks.count == 1 ? marks[0] : nil
  }

  /// Admits a database of another identity to the folder.
  ///
  /// - Returns: False if it was admitted before.
  func admit(_ identity: AssetID) throws(AssetError) -> Bool {
    do {
      _ = try root.makeFile(StoreFolder.mark(identity))
    } catch .system(_, _, EEXIST) {
      return false
    }
    try root.sync()
    return true
  }

  /// Undoes ``admit(_:)``.
  func dismiss(_ identity: AssetID) throws(AssetError) {
    try root.remove(StoreFolder.mark(identity))
  }

  private static func mark(_ identity: AssetID) -> String { "store-\(identity)" }

  private static func marks(_ names: [String]) -> [AssetID] {
    names.compactMap { $0.hasPrefix("store-") ? AssetID(String($0.dropFirst(6))) : nil }
  }

  /// Keeps others from making and from taking over an opener's folder, until the result goes.
  func lock() throws(AssetError) -> Folder {
    try root.locked()
  }

  /// Opens a content wherever it is, or nil if it is nowhere.
  func find(_ name: AssetFileName) throws(AssetError) -> File? {
    try search { folder, _ throws(AssetError) in try folder.file(name.text) }
  }

  /// Returns what `look` finds in `files`, or in the folder of an opener.
  private func search<Found>(
    _ look: (_ folder: Folder, _ isInPlace: Bool) throws(AssetError) -> Found?
  ) throws(AssetError) -> Found? {
    if let found = try look(files, true) { return found }
    for opener in try openers() {
      if let folder = try folder(ofOpener: opener), let found = try look(folder, false) {
        return found
      }
    }
    // It may have been moved to `files` between the two looks.
    return try look(files, true)
  }

  /// Moves a content whose row is committed from an opener's folder to `files`, and returns whether it was there.
  ///
  /// Two openers may have brought one content beside a patch: then the second one goes.
  func settle(_ name: AssetFileName, from opener: Folder) throws(AssetError) -> Bool {
    do {
      return try opener.move(name.text, to: files)
    } catch .system(let call, let path, EEXIST) {
      guard try files.file(name.text)?.status().size == opener.file(name.text)?.status().size else {
        throw .system(call: call, path: path, number: EEXIST)
      }
      return try opener.remove(name.text)
    }
  }

  /// Removes a content wherever it is, and returns whether it was in `files`.
  func remove(_ name: AssetFileName) throws(AssetError) -> Bool {
    try search { folder, isInPlace throws(AssetError) in
      try folder.remove(name.text) ? isInPlace : nil
    } ?? false
  }

  /// The openers' folders that nobody has locked any more, locked now.
  ///
  /// The lock of the root is given back at once: its holder must not wait for the database.
  func takeAbandoned() throws(AssetError) -> [(name: String, folder: Folder)] {
    let gate = try lock()
    defer { withExtendedLifetime(gate) {} }
    var abandoned: [(name: String, folder: Folder)] = []
    for name in try openers() {
      guard let folder = try folder(ofOpener: name), try folder.lock(waiting: false) else {
        continue
      }
      abandoned.append((name, folder))
    }
    return abandoned
  }

  /// The names of the openers' folders.
  private func openers() throws(AssetError) -> [String] {
    try pending.names().filter { AssetID($0) != nil }
  }

  /// An opener's folder; nil if it has gone, or is a file or a link that somebody put there.
  private func folder(ofOpener name: String) throws(AssetError) -> Folder? {
    do {
      return try pending.folder(name)
    } catch .system(_, _, ENOTDIR) {
      return nil
    } catch .notRegularFile {
      return nil
    }
  }
}
