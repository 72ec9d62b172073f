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

    /// Opens the folders in `root`, and makes those that are missing.
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
    /// There was no folder when it was last needed.
    case missing
    case open(Folders)
    case closed
  }

  /// The absolute path.
  let path: String
  private let identity: AssetID
  private let operations: any FileOperations
  /// Calls in progress keep the folders that they use when the store is closed.
  private let state = Mutex(State.missing)

  var root: Folder { get throws(AssetError) { try opened().root } }
  var files: Folder { get throws(AssetError) { try opened().files } }
  var pending: Folder { get throws(AssetError) { try opened().pending } }

  /// Opens the folder if it exists.
  ///
  /// - Parameter isMade: Whether it is made now if it is missing, and not when it is first needed.
  init(
    path: String, identity: AssetID, _ operations: any FileOperations, isMade: Bool
  ) throws(AssetError) {
    self.path = try File.absolute(path)
    self.identity = identity
    self.operations = operations
    _ = try folders(making: isMade)
  }

  /// The folders, made if they are missing.
  private func opened() throws(AssetError) -> Folders {
    guard let folders = try folders(making: true) else { throw .closed(path: path) }
    return folders
  }

  /// The folders, or nil if there are none.
  private func present() throws(AssetError) -> Folders? { try folders(making: false) }

  private func folders(making makes: Bool) throws(AssetError) -> Folders? {
    try state.withLock { state throws(AssetError) in
      switch state {
      case .closed: throw .closed(path: path)
      case .open(let folders): return folders
      case .missing:
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

  /// Closes the folders. Each later call throws ``AssetError/closed(path:)``.
  func close() {
    // The descriptors are closed when the lock is free again.
    _ = state.withLock { state in
      defer { state = .closed }
      return state
    }
  }

  /// Whether there was a folder when it was last needed.
  var isPresent: Bool {
    state.withLock { if case .open = $0 { true } else { false } }
  }

  /// The names in `files`; none if there is no folder.
  func fileNames() throws(AssetError) -> [String] { try present()?.files.names() ?? [] }

  /// The names in `pending`; none if there is no folder.
  func pendingNames() throws(AssetError) -> [String] { try present()?.pending.names() ?? [] }

  /// The path of a content in `files`, for messages.
  func path(of name: AssetFileName) -> String { "\(path)/files/\(name.text)" }

  /// The identity of the store whose folder is at `path`, or nil if there is none or more than one.
  static func identity(
    at path: String, _ operations: any FileOperations
  ) throws(AssetError) -> AssetID? {
    let marks = marks(try Folder.existing(path: path, operations)?.names() ?? [])
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
    guard let files = try present()?.files else { return nil }
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
    // An abandoned one stays until it is taken: without the lock it is seen, too.
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

  /// The names of the openers' folders.
  private func openers() throws(AssetError) -> [String] {
    try pendingNames().filter { AssetID($0) != nil }
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
