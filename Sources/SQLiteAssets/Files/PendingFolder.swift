import SystemFiles
import Platform
import Synchronization

/// The subfolder of `pending` in which one store of one process writes files.
///
/// The folder is locked while the store exists. After that, the next opening of the store locks the
/// folder, and moves or removes the files that are still in it.
final class PendingFolder: Sendable {
  private struct State {
    var folder: Folder?
    /// The files that rows of the open transaction reference. Each value indicates whether the
    /// content of the file is durable. The name of the file may not be durable yet.
    var unsynced: [AssetFileName: Bool] = [:]
    /// The files for which it isn't known yet whether a committed row references them, because a
    /// COMMIT or a move has failed. After the next commit, each is moved to `files` or removed.
    var unsettled: Set<AssetFileName> = []
    /// Whether files have been moved to `files` since that folder was last synced.
    var hasMoved = false
  }

  /// The number of files from which one `syncfs` replaces an `fsync` per file.
  ///
  /// On ext4 (Linux 6.18, 1 KiB files), 312 files took 57 ms with `fsync` and 7 ms with `syncfs`;
  /// 16 files took 3 ms and 0.5 ms. On a disk with a flush time of 5 ms, each `fsync` costs one
  /// flush. However, `syncfs` also waits for data that other programs have written, so it isn't
  /// used for a few files. It reports write errors since Linux 5.8. On systems without it, such as
  /// Darwin, each file is synced.
  private static let batch = 16

  private let store: StoreFolder
  private let name = AssetID().description
  /// Whether files must be synced. False for a database that doesn't outlive the process.
  let isDurable: Bool
  private let state = Mutex(State())

  init(_ store: StoreFolder, isDurable: Bool) {
    self.store = store
    self.isDurable = isDurable
  }

  deinit { close() }

  /// Closes the folder and removes it if it is empty. Otherwise the next opening of the store
  /// processes its files and removes it.
  func close() {
    guard let folder = state.withLock({ $0.folder }) else { return }
    // The new names must be durable before the old ones are removed.
    if (try? syncMoves()) != nil {
      withExtendedLifetime(folder) { _ = try? store.pending.removeFolder(name) }
    }
    state.withLock { $0.folder = nil }
  }

  /// Returns the name of the folder, which identifies this opening of the store. Creates and locks
  /// the folder if it is missing.
  func session() throws(AssetError) -> String {
    _ = try folder()
    return name
  }

  /// Creates a pending file, which no row references yet.
  func makeFile(_ name: AssetFileName) throws(AssetError) -> File {
    try folder().makeFile(name.text)
  }

  /// Creates a pending file as a copy-on-write clone of another file.
  ///
  /// - Returns: False if the file can't be cloned. Nothing was created then, and the caller must
  ///   copy the bytes. If the cause is a failure such as a full disk, the copy throws the error.
  func clone(_ source: File, as name: AssetFileName) -> Bool {
    (try? folder().clone(source, as: name.text)) != nil
  }

  /// Renames a pending file.
  ///
  /// - Returns: False if this failed. The caller must then copy the bytes.
  func rename(_ name: AssetFileName, to newName: AssetFileName) -> Bool {
    (try? folder().move(name.text, to: folder(), as: newName.text)) ?? false
  }

  /// Creates a pending file as a hard link to a file in `files`.
  ///
  /// - Returns: False if this failed, for example because that file doesn't exist or the file system
  ///   doesn't support links. The caller must then copy the bytes.
  func link(_ name: AssetFileName, as newName: AssetFileName) -> Bool {
    (try? store.files.link(name.text, to: folder(), as: newName.text)) != nil
  }

  /// Opens a pending file for reading.
  func file(_ name: AssetFileName) throws(AssetError) -> File {
    let folder = try folder()
    guard let file = try folder.file(name.text) else {
      throw .system(call: "openat", path: folder.path(of: name.text), number: ENOENT)
    }
    return file
  }

  /// Opens a file in this pending folder, such as one of ``unsettled``. Returns nil if the file or
  /// the folder doesn't exist.
  func unsettledFile(_ name: AssetFileName) throws(AssetError) -> File? {
    try state.withLock({ $0.folder })?.file(name.text)
  }

  /// Removes a pending file that no row has ever referenced.
  func abandon(_ name: AssetFileName) {
    // If the removal fails, the next opening of the store removes the file.
    _ = try? state.withLock({ $0.folder })?.remove(name.text)
  }

  /// Records that a row of the open transaction references a pending file, which ``sync()`` then
  /// makes durable.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - isSynced: Whether the content is durable already.
  func adopt(_ name: AssetFileName, isSynced: Bool) {
    state.withLock { $0.unsynced[name] = isSynced }
  }

  /// Makes the adopted files durable, before the transaction commits.
  func sync() throws(AssetError) {
    let names = state.withLock { state in
      defer { state.unsynced = [:] }
      return state.unsynced
    }
    guard isDurable, !names.isEmpty else { return }
    do {
      try sync(names)
    } catch {
      state.withLock { $0.unsynced.merge(names) { $1 } }
      throw error
    }
  }

  /// Moves a file to `files` after its row was committed, and removes it from ``unsettled``. If the
  /// move fails, the file is added to ``unsettled`` instead.
  func settle(_ name: AssetFileName) {
    do {
      // The file is already gone if its row was deleted since then.
      if try store.settle(name, from: folder()) { state.withLock { $0.hasMoved = true } }
      _ = state.withLock { $0.unsettled.remove(name) }
    } catch {
      // The row is committed, and readers find the file in this folder. Only the move has failed.
      // It is retried after the next commit and at the next opening.
      _ = state.withLock { $0.unsettled.insert(name) }
    }
  }

  /// Removes a file after its row was rolled back, or adds it to ``unsettled`` if a failed COMMIT
  /// may reference it or the removal fails.
  func discard(_ name: AssetFileName) {
    // If the file was synced, a failed COMMIT may reference it. In the WAL, that COMMIT can still
    // take effect if the process dies before the next commit. Only the next commit decides.
    let isSafe = state.withLock { $0.unsynced.removeValue(forKey: name) != nil }
    if isSafe, (try? folder().remove(name.text)) != nil { return }
    _ = state.withLock { $0.unsettled.insert(name) }
  }

  /// The files for which it isn't known yet whether a committed row references them.
  var unsettled: Set<AssetFileName> { state.withLock { $0.unsettled } }

  /// Removes a file of ``unsettled`` after it was determined that no row references it.
  func remove(unsettled name: AssetFileName) throws(AssetError) {
    try folder().remove(name.text)
    _ = state.withLock { $0.unsettled.remove(name) }
  }

  /// Returns the folder. The first call creates and locks it.
  private func folder() throws(AssetError) -> Folder {
    try state.withLock { state throws(AssetError) in
      if let folder = state.folder { return folder }
      // Until the new folder is locked, it looks abandoned to other openers.
      let gate = try store.lock()
      defer { withExtendedLifetime(gate) {} }
      let folder = try store.pending.makeFolder(name)
      guard try folder.lock(waiting: false) else {
        throw .system(call: "flock", path: folder.path, number: EWOULDBLOCK)
      }
      if isDurable { try store.pending.sync() }
      state.folder = folder
      return folder
    }
  }

  private func sync(_ files: [AssetFileName: Bool]) throws(AssetError) {
    let folder = try folder()
    // Content never changes, so syncing it once is enough.
    let names = files.filter { !$0.value }.keys
    if names.count >= PendingFolder.batch, try folder.syncFileSystem() {
      state.withLock { $0.hasMoved = false }
      return
    }
    try syncMoves()
    for name in names { try file(name).sync(isLast: false) }
    try folder.sync()
  }

  /// Syncs the moves of earlier transactions, so that the old name of a file never disappears
  /// before its new name is durable.
  private func syncMoves() throws(AssetError) {
    guard isDurable, state.withLock({ $0.hasMoved }) else { return }
    try store.files.sync()
    state.withLock { $0.hasMoved = false }
  }
}
