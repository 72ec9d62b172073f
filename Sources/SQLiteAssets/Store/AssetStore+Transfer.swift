import Platform
package import SQLiteCore
import Synchronization
import SystemFiles

// Transfer of files between copies of a store, separate from the rows that reference them. Each
// file is transferred under its name in the store. Names are random and content never changes, so
// files of the same name are identical everywhere, and existing files don't have to be copied
// again.
extension AssetStore {
  /// Copies the files of assets to a folder, in constant memory. If the call throws, it removes its
  /// copies.
  ///
  /// Existing files of the same size are skipped, others are replaced. The copies are copy-on-write
  /// clones if the file system supports them.
  ///
  /// - Parameters:
  ///   - ids: The ids of the assets. Assets that don't exist or have their content in the row are
  ///     skipped.
  ///   - path: The path of the folder, which is created if it is missing. Its parent folder must
  ///     exist.
  ///   - connection: A connection inside `read` or `write`.
  /// - Throws: ``AssetError`` if a row is invalid, or if a file is missing, is damaged or can't be
  ///   copied; `SQLiteError` if the rows can't be read.
  package func copyFiles(
    of ids: [AssetID], to path: String, in connection: Connection
  ) throws {
    let records = try ids.compactMap { try record($0, in: connection) }.filter { !$0.isInRow }
    guard !records.isEmpty else { return }
    let target = try Folder.open(path: path, operations)
    // Only one process copies to the folder at a time.
    let gate = try target.locked()
    // Each file gets its name only when it is complete.
    let pending = try addingPath(target.path) { () throws(SystemFailure) in
      try PendingFile(target.path(of: "contents"), operations)
    }
    defer { withExtendedLifetime((gate, pending)) {} }
    let incoming = try Folder.open(path: pending.contentPath, operations)
    var made: [String] = []
    do {
      for record in records {
        let name = record.file.text
        if try target.file(name)?.status().size == record.size { continue }
        try target.remove(name)
        if let fault = try copyFile(of: record, to: incoming, as: name) { throw fault }
        try incoming.file(name)?.sync(isLast: false)
        try incoming.move(name, to: target)
        made.append(name)
      }
      if !made.isEmpty { try target.sync() }
    } catch {
      // A file that can't be removed does no harm: no transferred row references it.
      for name in made { _ = try? target.remove(name) }
      throw error
    }
  }
}

extension AssetStore {
  /// Returns whether the store has the file with a name, and a row references it or a holder holds
  /// it. Other files may be removed at any time.
  package func has(_ file: String, in connection: Connection) throws -> Bool {
    guard let name = AssetFileName(file) else { return false }
    return try connection.firstRow(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM main.magicdata_asset WHERE file = \(file))
        OR \(AssetSchema.isHeld("\(file)", connection))
      """) != nil && folder.find(name) != nil
  }

  /// Opens a file that a row or a holder has referenced, or returns nil if the store doesn't have
  /// it.
  package func open(
    file: String, of id: AssetID, size: Int, sha256: AssetDigest
  ) throws -> AssetReader? {
    guard let name = AssetFileName(file), let file = try folder.find(name) else { return nil }
    let content = Content(file: name, size: size, sha256: sha256, bytes: nil, isSynced: true)
    return try AssetReader(AssetRecord(id: id, content: content), file, worker)
  }
}

/// Asset files from another copy of a store, copied into this store as pending files.
/// ``adopted(_:in:by:)`` assigns them to the rows that reference them. When this instance is
/// released, the files that no row has adopted are removed.
package final class ReceivedAssets: Sendable {
  private let store: AssetStore
  private let path: String?
  /// The received content in pending files, keyed by the file names in the rows that reference it.
  /// Content that a row adopts is removed from this dictionary.
  private let contents: Mutex<[AssetFileName: Content]>

  /// Copies the files that the store lacks into the store, in constant memory and before the
  /// transaction that needs them.
  ///
  /// - Parameters:
  ///   - names: The names of the files. Invalid names are skipped.
  ///   - path: The folder that contains the files; nil if there is none.
  ///   - store: The store to copy the files to.
  /// - Throws: ``AssetError`` if a file can't be copied, or `SQLiteError` if the database can't be
  ///   read. The copies are removed then.
  package init(_ names: Set<String>, from path: String?, to store: AssetStore) throws {
    self.store = store
    self.path = path
    contents = Mutex([:])
    guard path != nil else { return }
    let names = names.compactMap { AssetFileName($0) }
    let known = try store.known(names)
    for name in names where !known.contains(name) {
      // A missing file is an error only if a row needs it.
      if let content = try copyIn(name) { contents.withLock { $0[name] = content } }
    }
  }

  /// Creates an instance that has received nothing yet. ``receive(_:as:)`` adds files.
  package init(to store: AssetStore) {
    self.store = store
    path = nil
    contents = Mutex([:])
  }

  /// Returns whether a file was received and no row has adopted it yet.
  package func has(_ name: AssetFileName) -> Bool { contents.withLock { $0[name] != nil } }

  /// Adds a file that was staged in the store.
  ///
  /// - Parameters:
  ///   - staged: The content, which was staged with a minimum file size of 0.
  ///   - name: The name that the rows contain.
  package func receive(_ staged: StagedAsset, as name: AssetFileName) throws(AssetError) {
    guard let content = try staged.take(for: store.pendingFolder, extension: nil) else { return }
    contents.withLock { $0[name] = content }
  }

  deinit {
    for content in contents.withLock({ $0.values }) { store.pendingFolder.abandon(content.file) }
  }

  /// Copies a received file into the store as a pending file with a new name. Returns nil if the
  /// folder doesn't contain the file.
  private func copyIn(_ name: AssetFileName) throws -> Content? {
    guard let path, let folder = try Folder.existing(path: path, store.operations),
      let file = try folder.file(name.text)
    else { return nil }
    return try store.stage(extension: nil, minimumFileSize: 0, syncing: true) { writer in
      try writer.write(contentsOf: file)
    }
  }

  /// Runs `change`, which may write asset rows, and ensures that the store has the content of each
  /// row that it has changed.
  ///
  /// - Parameters:
  ///   - keys: The keys of the rows that `change` may write. They may be invalid ids.
  ///   - connection: The writer connection, inside a transaction.
  ///   - change: A closure that changes rows.
  /// - Returns: The result of `change`.
  /// - Throws: ``AssetError/damagedRow(id:)`` if a row is invalid or content in it differs from its
  ///   digest; ``AssetError/missingFile(_:path:)`` if the file of a row wasn't received;
  ///   ``AssetError/damagedFile(_:path:)`` if the file differs from the size or digest in the row;
  ///   other ``AssetError`` cases if a file can't be read or copied; `SQLiteError` if a row can't
  ///   be read; any error of `change`.
  package func adopted<Result>(
    _ keys: Set<Value>, in connection: Connection, by change: () throws -> Result
  ) throws -> Result {
    var before: [Value: AssetRecord] = [:]
    for key in keys {
      do { before[key] = try row(key, connection) } catch is AssetError {}
    }
    let result = try change()
    for key in keys {
      guard let row = try row(key, connection) else { continue }
      if row.isInRow {
        // Verifies the digest.
        _ = try store.bytes(of: row.id, in: connection)
      } else if row != before[key] {
        try adopt(row, connection)
      }
    }
    return result
  }

  private func row(_ key: Value, _ connection: Connection) throws -> AssetRecord? {
    try store.record(where: "id = \(key)", in: connection)
  }

  /// Adds received files to the store that no row has adopted but a holder needs, as part of the
  /// open transaction. Call it before the holder holds them, because other files are removed.
  ///
  /// - Throws: ``AssetError`` if a file can't be renamed.
  package func keep(_ names: Set<String>, in connection: Connection) throws {
    for name in names.compactMap({ AssetFileName($0) }) {
      guard let content = contents.withLock({ $0.removeValue(forKey: name) }) else { continue }
      try adopt(content, as: name, connection)
    }
  }

  /// Ensures that the store has the content of a row, in a file that it already contains or in the
  /// received one, and that this content matches the row.
  private func adopt(_ row: AssetRecord, _ connection: Connection) throws {
    let (pendingFolder, name) = (store.pendingFolder, row.file)
    if let file = try store.folder.files.file(name.text) {
      // A deleted asset had this file, which is held or not removed yet. The row that references it
      // again keeps it.
      return try check(row, file.forEachPiece(), at: file.path)
    }
    if let file = try pendingFolder.unsettledFile(name) {
      // A failed COMMIT may reference this file and may still take effect, so it must not be
      // removed here.
      try check(row, file.forEachPiece(), at: file.path)
      return connection.afterCommit { _ in pendingFolder.settle(name) }
    }
    let come = contents.withLock { $0.removeValue(forKey: name) }
    guard let content = try come ?? copyIn(name) else {
      throw AssetError.missingFile(row.id, path: source(of: row))
    }
    do {
      try check(row, (content.size, content.sha256), at: source(of: row))
    } catch {
      pendingFolder.abandon(content.file)
      throw error
    }
    try adopt(content, as: name, connection)
  }

  /// Adds a received file to the store with its name.
  private func adopt(
    _ content: Content, as name: AssetFileName, _ connection: Connection
  ) throws {
    guard store.pendingFolder.rename(content.file, to: name) else {
      store.pendingFolder.abandon(content.file)
      throw AssetError.system(
        call: "renameat", path: store.folder.path(of: name), number: EEXIST)
    }
    let named = Content(
      file: name, size: content.size, sha256: content.sha256, bytes: nil,
      isSynced: content.isSynced)
    try store.adopt(named, in: connection) {}
  }

  private func source(of row: AssetRecord) -> String {
    path.map { "\($0)/\(row.file.text)" } ?? store.folder.path(of: row.file)
  }

  private func check(
    _ row: AssetRecord, _ found: (size: Int, sha256: AssetDigest), at path: String
  ) throws {
    guard found.size == row.size, found.sha256 == row.sha256 else {
      throw AssetError.damagedFile(row.id, path: path)
    }
  }
}
