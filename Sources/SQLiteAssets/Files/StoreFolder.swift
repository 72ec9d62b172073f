import SystemFiles
import Platform
import Synchronization

/// The folders of a store.
///
/// `files` contains the files that committed rows reference. It has no subfolders. A commit that
/// moves a thousand files therefore changes one folder, and lookups remain fast because file
/// systems index the names in a folder. `pending` contains a folder for each open store
/// (``PendingFolder``), with files that committed rows may not reference yet. The name of an empty
/// file, `store-` followed by the identity of the store, prevents databases with another identity
/// from using the folder.
final class StoreFolder: Sendable {
  private struct Folders {
    let root: Folder
    let files: Folder
    let pending: Folder

    /// Opens the folders `files` and `pending` in `root`. Creates them, and the marker file of
    /// `identity`, if they are missing.
    init(_ root: Folder, _ identity: AssetID) throws(AssetError) {
      self.root = root
      let names = try root.names()
      if StoreFolder.marks(names).contains(identity), let files = try root.folder("files"),
        let pending = try root.folder("pending")
      {
        self.files = files
        self.pending = pending
        return
      }
      let lock = try root.locked()
      defer { withExtendedLifetime(lock) {} }
      let marks = StoreFolder.marks(try root.names())
      guard marks.isEmpty || marks.contains(identity) else {
        throw .foreignFolder(path: root.path)
      }
      files = try root.makeFolder("files")
      pending = try root.makeFolder("pending")
      if marks.isEmpty { _ = try root.makeFile(StoreFolder.mark(identity)) }
      try root.sync()
    }
  }

  private enum State {
    /// The folder didn't exist when it was last accessed.
    case missing
    case open(Folders)
    case closed
  }

  /// The absolute path of the store's folder.
  let path: String
  private let identity: AssetID
  private let operations: any FileOperations
  /// Creates the missing folder with the files of another store when it is first accessed, or nil.
  private let create: AssetStore.FolderCreation?
  /// The state of the folders. Calls that are running when the store is closed can still use the
  /// folders that they have opened.
  private let state = Mutex(State.missing)

  var root: Folder { get throws(AssetError) { try opened().root } }
  var files: Folder { get throws(AssetError) { try opened().files } }
  var pending: Folder { get throws(AssetError) { try opened().pending } }

  /// Opens the folder if it exists. Creates a missing one if `createsMissing` is true.
  ///
  /// - Parameters:
  ///   - path: The path of the folder.
  ///   - identity: The identity of the store.
  ///   - operations: The file system calls.
  ///   - createsMissing: Whether to create a missing folder now. If false, it is created at its
  ///     first use.
  ///   - create: Creates the folder at its first access if it is missing, or nil.
  init(
    path: String, identity: AssetID, _ operations: any FileOperations, createsMissing: Bool,
    creatingWith create: AssetStore.FolderCreation? = nil
  ) throws(AssetError) {
    self.path = try File.absolute(path)
    self.identity = identity
    self.operations = operations
    self.create = create
    if create == nil { _ = try folders(making: createsMissing) }
  }

  /// Returns the open folders of the store. Creates them if they are missing.
  private func opened() throws(AssetError) -> Folders {
    guard let folders = try folders(making: true) else { throw .closed(path: path) }
    return folders
  }

  /// Returns the open folders of the store, or nil if they don't exist.
  private func present() throws(AssetError) -> Folders? { try folders(making: false) }

  private func folders(making makes: Bool) throws(AssetError) -> Folders? {
    try state.withLock { state throws(AssetError) in
      switch state {
      case .closed: throw .closed(path: path)
      case .open(let folders): return folders
      case .missing:
        try create?(path)
        let root =
          makes
          ? try Folder.open(path: path, operations) : try Folder.existing(path: path, operations)
        guard let root else { return nil }
        let folders = try Folders(root, identity)
        state = .open(folders)
        return folders
      }
    }
  }

  /// Closes the folders. All later calls that access them throw ``AssetError/closed(path:)``.
  func close() {
    // Return the old state, so that the descriptors are closed outside the lock.
    _ = state.withLock { state in
      defer { state = .closed }
      return state
    }
  }

  /// Whether the folder existed when it was last accessed.
  var isPresent: Bool {
    state.withLock { if case .open = $0 { true } else { false } }
  }

  /// Returns the names in `files`; an empty array if the folder doesn't exist.
  func fileNames() throws(AssetError) -> [String] { try present()?.files.names() ?? [] }

  /// Returns the names in `pending`; an empty array if the folder doesn't exist.
  func pendingNames() throws(AssetError) -> [String] { try present()?.pending.names() ?? [] }

  /// Returns the path of a file in `files`, for error messages.
  func path(of name: AssetFileName) -> String { "\(path)/files/\(name.text)" }

  /// Returns the identity of the store with the folder at `path`; nil if there is no identity or
  /// more than one.
  static func identity(
    at path: String, _ operations: any FileOperations
  ) throws(AssetError) -> AssetID? {
    let marks = marks(try Folder.existing(path: path, operations)?.names() ?? [])
    return marks.count == 1 ? marks[0] : nil
  }

  /// Allows a database with another identity to use the folder.
  ///
  /// - Returns: False if it was allowed before.
  func admit(_ identity: AssetID) throws(AssetError) -> Bool {
    do {
      _ = try root.makeFile(StoreFolder.mark(identity))
    } catch .system(_, _, EEXIST) {
      return false
    }
    try root.sync()
    return true
  }

  /// Revokes the permission that ``admit(_:)`` gave to a database with another identity.
  func dismiss(_ identity: AssetID) throws(AssetError) {
    try root.remove(StoreFolder.mark(identity))
  }

  private static func mark(_ identity: AssetID) -> String { "store-\(identity)" }

  private static func marks(_ names: [String]) -> [AssetID] {
    names.compactMap { $0.hasPrefix("store-") ? AssetID(String($0.dropFirst(6))) : nil }
  }

  /// Prevents other stores, in this process and in others, from creating and taking over pending
  /// folders until the returned instance is released.
  func lock() throws(AssetError) -> Folder {
    try root.locked()
  }

  /// Opens a file in `files` or in a pending folder. Returns nil if it doesn't exist.
  func find(_ name: AssetFileName) throws(AssetError) -> File? {
    try search { folder, _ throws(AssetError) in try folder.file(name.text) }
  }

  /// Calls `look` with `files` and then with each pending folder, and returns the first result that
  /// isn't nil. Returns nil if there is none.
  private func search<Found>(
    _ look: (_ folder: Folder, _ isInPlace: Bool) throws(AssetError) -> Found?
  ) throws(AssetError) -> Found? {
    guard let files = try present()?.files else { return nil }
    if let found = try look(files, true) { return found }
    for opener in try openers() {
      if let folder = try folder(ofOpener: opener), let found = try look(folder, false) {
        return found
      }
    }
    // The file may have been moved to `files` in the meantime.
    return try look(files, true)
  }

  /// Moves a file from a pending folder to `files` after its row was committed. Returns whether the
  /// pending folder contained it.
  ///
  /// If `files` already contains a file of this name and size, because two open stores received the
  /// same content with a patch, the pending file is removed. Throws if the sizes differ.
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

  /// Removes a file from `files` or from a pending folder. Returns true only if it was in `files`,
  /// because the caller must then sync that folder.
  func remove(_ name: AssetFileName) throws(AssetError) -> Bool {
    try search { folder, isInPlace throws(AssetError) in
      try folder.remove(name.text) ? isInPlace : nil
    } ?? false
  }

  /// Locks and returns the pending folders of stores that were closed or whose process has ended.
  ///
  /// The lock of the root folder is held only during this call. No holder of that lock may wait for
  /// the database.
  func lockAbandoned() throws(AssetError) -> [(name: String, folder: Folder)] {
    // An abandoned folder stays until someone locks it, so it is visible without the lock.
    guard try !openers().isEmpty else { return [] }
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

  /// Returns the names of the pending folders.
  private func openers() throws(AssetError) -> [String] {
    try pendingNames().filter { AssetID($0) != nil }
  }

  /// Opens a pending folder. Returns nil if it doesn't exist, or if its name belongs to a file or
  /// link.
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
