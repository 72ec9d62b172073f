import SystemFiles
import Platform
import Synchronization

/// The part of `pending` in which one store of one process writes.
///
/// Its folder is locked as long as the store lives. Once the lock is free, the next
/// opening of the store settles what is left.
final class Opener: Sendable {
  private struct State {
    var folder: Folder?
    /// Files that rows of the open transaction name, and whether their contents survive a power cut already. Their names
    /// may not.
    var unsynced: [AssetFileName: Bool] = [:]
    /// Files that stay only if a committed row names them, which is not known yet.
    var unsettled: Set<AssetFileName> = []
    /// Whether files were moved to `files` since that folder was last synced.
    var hasMoved = false
  }

  /// From how many files on one `syncfs` replaces an `fsync` for each.
  ///
  /// On ext4 (Linux 6.18, 1 KiB files) 312 files took 57 ms by `fsync` and 7 ms by `syncfs`, 16 took
  /// 3 ms and 0.5 ms, and on a disk whose flush takes 5 ms each `fsync` costs one. But `syncfs` also
  /// waits for what other programs have written, so a few files do without it. It reports failed
  /// writes since Linux 5.8. Where there is none, as on Darwin, each file is synced.
  private static let batch = 16

  private let store: StoreFolder
  private let name = AssetID().description
  /// False for a database that does not outlive the process.
  let isDurable: Bool
  private let state = Mutex(State())

  init(_ store: StoreFolder, isDurable: Bool) {
    self.store = store
    self.isDurable = isDurable
  }

  deinit { close() }

  /// Closes the folder, and removes it if it is empty. Otherwise the next opening of the store removes it.
  func close() {
    guard let folder = state.withLock({ $0.folder }) else { return }
    // New names must be durable before the old ones are removed.
    if (try? syncMoves()) != nil {
      withExtendedLifetime(folder) { _ = try? store.pending.removeFolder(name) }
    }
    state.withLock { $0.folder = nil }
  }

  /// The name of the opener's folder, which is made and locked if it is not there yet.
  func session() throws(AssetError) -> String {
    _ = try folder()
    return name
  }

  /// Makes a file that no row names yet.
  func makeFile(_ name: AssetFileName) throws(AssetError) -> File {
    try folder().makeFile(name.text)
  }

  /// Makes a file that shares the content of another one, if the file system can do that.
  ///
  /// - Returns: False if it cannot, and nothing was made: then the bytes have to be copied, which
  ///   also says what else was in the way.
  func clone(_ source: File, as name: AssetFileName) -> Bool {
    (try? folder().clone(source, as: name.text)) != nil
  }

  /// Gives a file that no row names yet another name.
  ///
  /// - Returns: False if that failed: then the bytes have to be copied.
  func rename(_ name: AssetFileName, to newName: AssetFileName) -> Bool {
    (try? folder().move(name.text, to: folder(), as: newName.text)) ?? false
  }

  /// Gives a file in `files` a second name, which no row names yet.
  ///
  /// - Returns: False if it is not there, or the file system cannot do that: then the bytes have to be
  ///   copied.
  func link(_ name: AssetFileName, as newName: AssetFileName) -> Bool {
    (try? store.files.link(name.text, to: folder(), as: newName.text)) != nil
  }

  /// Opens a file that no row names yet for reading.
  func file(_ name: AssetFileName) throws(AssetError) -> File {
    let folder = try folder()
    guard let file = try folder.file(name.text) else {
      throw .system(call: "openat", path: folder.path(of: name.text), number: ENOENT)
    }
    return file
  }

  /// Opens a file that was left here under the name of a row, or nil if there is none.
  func unsettledFile(_ name: AssetFileName) throws(AssetError) -> File? {
    try state.withLock({ $0.folder })?.file(name.text)
  }

  /// Removes a file that no row ever named.
  func abandon(_ name: AssetFileName) {
    // One that cannot be removed now is removed by the next opening.
    _ = try? state.withLock({ $0.folder })?.remove(name.text)
  }

  /// Notes that a row of the open transaction names a file.
  ///
  /// - Parameter isSynced: Whether its content survives a power cut already.
  func adopt(_ name: AssetFileName, isSynced: Bool) {
    state.withLock { $0.unsynced[name] = isSynced }
  }

  /// Makes the adopted files last, before the transaction commits.
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

  /// Moves a file whose row is committed to `files`.
  func settle(_ name: AssetFileName) {
    do {
      // It is gone already if its row was deleted meanwhile.
      if try store.settle(name, from: folder()) { state.withLock { $0.hasMoved = true } }
      _ = state.withLock { $0.unsettled.remove(name) }
    } catch {
      // The row is committed and readers find the file here, so nothing has failed but the tidying,
      // which is tried again after the next commit and at the next opening.
      _ = state.withLock { $0.unsettled.insert(name) }
    }
  }

  /// Removes a file whose row was rolled back.
  func discard(_ name: AssetFileName) {
    // A file that was synced may have been named by a COMMIT that failed. In the log such a COMMIT
    // can still take effect, if the process dies before the next one: only that settles it.
    let isSafe = state.withLock { $0.unsynced.removeValue(forKey: name) != nil }
    if isSafe, (try? folder().remove(name.text)) != nil { return }
    _ = state.withLock { $0.unsettled.insert(name) }
  }

  /// The files that stay only if a committed row names them, which is not known yet.
  var unsettled: Set<AssetFileName> { state.withLock { $0.unsettled } }

  /// Removes a file that turned out to be named by no row.
  func remove(unsettled name: AssetFileName) throws(AssetError) {
    try folder().remove(name.text)
    _ = state.withLock { $0.unsettled.remove(name) }
  }

  /// The folder, made when it is first needed.
  private func folder() throws(AssetError) -> Folder {
    try state.withLock { state throws(AssetError) in
      if let folder = state.folder { return folder }
      // Between being made and being locked the folder looks abandoned.
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
    // A content is never changed, so one sync of it is enough.
    let names = files.filter { !$0.value }.keys
    if names.count >= Opener.batch, try folder.syncFileSystem() {
      state.withLock { $0.hasMoved = false }
      return
    }
    try syncMoves()
    for name in names { try file(name).sync(isLast: false) }
    try folder.sync()
  }

  /// Syncs the moves of earlier transactions, so that a file's old name never goes before its new
  /// one has come.
  private func syncMoves() throws(AssetError) {
    guard isDurable, state.withLock({ $0.hasMoved }) else { return }
    try store.files.sync()
    state.withLock { $0.hasMoved = false }
  }
}
