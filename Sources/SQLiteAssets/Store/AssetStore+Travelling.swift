import Platform
package import SQLiteCore
import Synchronization
import SystemFiles

// Contents that travel beside the rows that name them, from one copy of a store to another: each in a file of the
// name that it has in the store. A name is random and a content never changes, so the same name is the same content
// everywhere, and whatever is there already need not come again.
extension AssetStore {
  /// Copies the files of assets into a folder, all of them or none, in constant memory.
  ///
  /// Files that are there are left as they are. Where the file system can, the copies share their content.
  ///
  /// - Parameters:
  ///   - ids: The assets. Contents in rows are passed over.
  ///   - path: The folder, which is made if it is missing. The folder above it must exist.
  ///   - connection: A connection inside `read` or `write`.
  /// - Throws: ``AssetError``, such as ``AssetError/missingFile(_:path:)``, or `SQLiteError`.
  package func copyFiles(
    of ids: [AssetID], to path: String, in connection: Connection
  ) throws {
    let records = try ids.compactMap { try record($0, in: connection) }.filter { !$0.isInRow }
    guard !records.isEmpty else { return }
    let target = try Folder.open(path: path, operations)
    // One copies to the folder at a time.
    let gate = try target.locked()
    // Each file has its name once it is complete.
    let pending = try naming(target.path) { () throws(SystemFailure) in
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
      // What cannot be removed is harmless: no rows travel that name it.
      for name in made { _ = try? target.remove(name) }
      throw error
    }
  }
}

/// Contents that have come from another copy of a store, and the rows that name them not yet.
package final class ArrivingAssets: Sendable {
  private let store: AssetStore
  private let path: String?
  /// The contents under names of their own, which this removes unless a row takes them.
  private let contents: Mutex<[AssetFileName: Content]>

  /// Copies the files that the store lacks, in constant memory, before the transaction that needs them.
  ///
  /// - Parameters:
  ///   - names: The names of the files. Others than names of stores' files are passed over.
  ///   - path: The folder with the contents; nil for none.
  ///   - store: The store.
  /// - Throws: ``AssetError`` or `SQLiteError`; then nothing is left of the copies.
  package init(_ names: Set<String>, from path: String?, to store: AssetStore) throws {
    self.store = store
    self.path = path
    contents = Mutex([:])
    guard path != nil else { return }
    let names = names.compactMap { AssetFileName($0) }
    let known = try store.known(names)
    for name in names where !known.contains(name) {
      // What is missing is missed only if a row needs it.
      if let content = try arrive(name) { contents.withLock { $0[name] = content } }
    }
  }

  deinit {
    for content in contents.withLock({ $0.values }) { store.opener.abandon(content.file) }
  }

  /// Copies a file into the store, under a name of its own; nil if it is not in the folder.
  private func arrive(_ name: AssetFileName) throws -> Content? {
    guard let path, let folder = try Folder.existing(path: path, store.operations),
      let file = try folder.file(name.text)
    else { return nil }
    return try store.stage(extension: nil, minimumFileSize: 0, syncing: true) { writer in
      try writer.write(contentsOf: file)
    }
  }

  /// Runs `change`, which may write the rows of assets, and checks that each of them then has its content.
  ///
  /// - Parameters:
  ///   - keys: The keys of the rows, as whoever has made the change names them.
  ///   - connection: The connection that writes, inside a transaction.
  ///   - change: The change.
  /// - Throws: ``AssetError/damagedRow(id:)`` if a row is one that no store writes;
  ///   ``AssetError/missingFile(_:path:)`` or ``AssetError/damagedFile(_:path:)`` if it names a content that did not come,
  ///   or another one; what `change` throws.
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
        // Compares it with its digest.
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

  /// Gives a row its content: one that the store still has, or the one that has come.
  private func adopt(_ row: AssetRecord, _ connection: Connection) throws {
    let (opener, name) = (store.opener, row.file)
    if let file = try store.folder.files.file(name.text) {
      // It was deleted, and somebody holds it, or it is still to be removed: a row that names it keeps it.
      return try check(row, file.forEachPiece(), at: file.path)
    }
    if let file = try opener.unsettledFile(name) {
      // A COMMIT that failed may have named it, and may do so still: it is never removed here.
      try check(row, file.forEachPiece(), at: file.path)
      return connection.afterCommit { _ in opener.settle(name) }
    }
    let come = contents.withLock { $0.removeValue(forKey: name) }
    guard let content = try come ?? arrive(name) else {
      throw AssetError.missingFile(row.id, path: source(of: row))
    }
    do {
      try check(row, (content.size, content.sha256), at: source(of: row))
      guard opener.rename(content.file, to: name) else {
        throw AssetError.system(call: "renameat", path: source(of: row), number: EEXIST)
      }
    } catch {
      opener.abandon(content.file)
      throw error
    }
    let named = Content(
      file: name, size: row.size, sha256: row.sha256, bytes: nil, isSynced: content.isSynced)
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
