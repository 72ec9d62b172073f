public import SQLiteCore

extension AssetStore {
  /// Puts a content into the store, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - bytes: The content: an array, a `Data`, the `utf8` of a string, or any other bytes.
  ///   - fileExtension: The extension of the file's name, such as `"png"`; none if nil or empty.
  ///   - connection: A connection inside `write`. On one inside `withoutTransaction` this is a
  ///     transaction of its own.
  /// - Returns: The new asset.
  /// - Throws: ``AssetError`` or `SQLiteError`; then nothing is left of the content.
  /// - Complexity: O(*n*). Files are synced once, before the transaction commits.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try stage(extension: fileExtension) { writer in try writer.write(bytes) }
    }
  }

  /// Puts a content into the store, in a transaction of its own.
  ///
  ///     let photo = try assets.put(bytes, extension: "jpeg")
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError`` or `SQLiteError`; then nothing is left of the content.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try putStaged(stage(extension: fileExtension) { writer in try writer.write(bytes) })
  }

  /// As ``put(_:extension:)``, without blocking the task.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ bytes: some Sequence<UInt8> & Sendable, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await putStaged(stage(bytes, extension: fileExtension))
  }

  /// Puts a copy of a file into the store, as part of the open transaction, in constant memory.
  ///
  /// Other writers wait for a long copy: `stage(contentsOf:extension:)` makes it before.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: The new asset.
  /// - Throws: ``AssetError`` or `SQLiteError`; then nothing is left of the copy.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) { try copy(ofFile: path, extension: fileExtension) }
  }

  /// Puts a copy of a file into the store, in a transaction of its own and in constant memory.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError`` or `SQLiteError`; then nothing is left of the copy.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try putStaged(copy(ofFile: path, extension: fileExtension, syncing: true))
  }

  /// As ``put(contentsOf:extension:)``, without blocking the task.
  @discardableResult
  nonisolated(nonsending) public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await putStaged(stage(contentsOf: path, extension: fileExtension))
  }

  /// Puts a staged content into the store, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - staged: The content. Put a second time, or by another store, it is copied.
  ///   - fileExtension: Another extension; nil is the staged one, `""` none.
  ///   - connection: As for ``put(_:extension:in:)``.
  /// - Returns: The new asset.
  /// - Throws: ``AssetError`` or `SQLiteError`; then the staged content is still there.
  @discardableResult
  public func put(
    _ staged: StagedAsset, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try content(of: staged, extension: fileExtension ?? staged.fileExtension)
    }
  }

  /// Puts a copy of an asset, of this store or another, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - reader: The open content, which is compared with its digest.
  ///   - fileExtension: The extension of the new file's name; nil is that of the other, and `""` none.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: The new asset, with a file of its own.
  /// - Throws: ``AssetError``, such as ``AssetError/damagedFile(_:path:)``, or `SQLiteError`; then
  ///   nothing is left of the copy.
  @discardableResult
  public func put(
    copyOf reader: AssetReader, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) { try copy(of: reader, extension: fileExtension) }
  }

  /// Puts a stream of pieces into the store, in a transaction of its own and in constant memory.
  ///
  ///     let film = try await assets.put(request.body, extension: "mp4")
  ///
  /// - Parameters:
  ///   - pieces: Bytes in pieces of any size.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: What the stream throws, ``AssetError``, `SQLiteError` or `CancellationError`; then
  ///   nothing is left of it.
  @discardableResult
  nonisolated(nonsending) public func put<Pieces: AsyncSequence>(
    _ pieces: Pieces, extension fileExtension: String? = nil
  ) async throws -> AssetRecord where Pieces.Element: Sequence<UInt8> {
    try await putStaged(stage(pieces, extension: fileExtension))
  }

  /// Inserts the row of a content that was written before the transaction began, so that others wait
  /// for less.
  private func putStaged(_ content: Content) throws -> AssetRecord {
    var isAdopted = false
    do {
      return try database.write { connection in
        isAdopted = true
        return try insert(content, in: connection)
      }
    } catch {
      // No transaction began that could have removed it.
      if !isAdopted { opener.abandon(content.file) }
      throw error
    }
  }

  private nonisolated(nonsending) func putStaged(_ staged: StagedAsset) async throws -> AssetRecord
  {
    try await database.write { connection in try self.put(staged, in: connection) }
  }

  /// Inserts the row of a content that `stage` writes.
  ///
  /// It is dynamic, so that the compiler makes no copy of it for each closure.
  private dynamic func insert(in connection: Connection, _ stage: () throws -> Content) throws
    -> AssetRecord
  {
    try inTransaction(connection) { try insert(try stage(), in: connection) }
  }

  /// Inserts the row of a content, which is removed if that fails.
  func insert(_ content: Content, in connection: Connection) throws -> AssetRecord {
    let id = AssetID()
    try adopt(content, in: connection) {
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_asset (id, file, size, sha256, content)
        VALUES (\(id), \(content.file.text), \(content.size), \(content.sha256.bytes),
          \(content.bytes))
        """)
    }
    return AssetRecord(id: id, content: content)
  }

  /// The content of a staged one, or a copy of it.
  func content(of staged: StagedAsset, extension fileExtension: String?) throws -> Content {
    if let content = try staged.take(for: opener, extension: fileExtension) { return content }
    return try stage(extension: fileExtension) { writer in try staged.copy(to: &writer) }
  }

  /// A copy of an asset's content.
  func copy(
    of reader: AssetReader, extension fileExtension: String?, syncing syncs: Bool = false
  ) throws -> Content {
    let content = try stage(
      extension: fileExtension ?? reader.record.fileExtension, syncing: syncs
    ) { writer in
      if let file = reader.file {
        try writer.write(contentsOf: file)
      } else {
        try writer.write(reader.readAll())
      }
    }
    guard content.size == reader.record.size, content.sha256 == reader.record.sha256 else {
      opener.abandon(content.file)
      throw reader.damage
    }
    return content
  }

  /// Runs `body` in the open transaction, or in one of its own.
  func inTransaction<Result>(
    _ connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    if connection.ownsTransaction { return try body() }
    guard connection.isAutocommit else {
      throw SQLiteError(
        .misuse,
        "assets cannot be changed in a transaction that was begun by SQL: use Database.write")
    }
    return try connection.transaction { try body() }
  }
}
