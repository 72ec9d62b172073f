public import SQLiteCore

extension AssetStore {
  /// Creates an asset, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - bytes: The content: an array, a `Data`, the `utf8` view of a string, or any other sequence
  ///     of bytes.
  ///   - fileExtension: The file name extension, such as `"png"`; nil or empty for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The record of the new asset.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `SQLiteError` if the row can't be inserted, or if the open transaction was begun with SQL.
  ///   Nothing is stored then.
  /// - Complexity: O(*n*), where *n* is the number of bytes. All files of a transaction are synced
  ///   together, before the commit.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try stage(extension: fileExtension) { writer in try writer.write(bytes) }
    }
  }

  /// Creates an asset in its own transaction. Blocks the thread.
  ///
  ///     let photo = try assets.put(bytes, extension: "jpeg")
  ///
  /// - Parameters:
  ///   - bytes: The content of the asset.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `SQLiteError` if the row can't be inserted. Nothing is stored then.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try putStaged(stage(extension: fileExtension) { writer in try writer.write(bytes) })
  }

  /// Creates an asset in its own transaction, and suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - bytes: The content of the asset. If it isn't `Sendable`, you give it away and cannot use it
  ///     afterwards.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `SQLiteError` if the row can't be inserted; `CancellationError` if the task was cancelled.
  ///   Nothing is stored then.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ bytes: sending some Sequence<UInt8> & SendableMetatype, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await putStaged(stage(bytes, extension: fileExtension))
  }

  /// Creates an asset in its own transaction from content that can be iterated only on the actor of
  /// the caller. Suspends the task meanwhile.
  ///
  /// This form is used for a sequence whose conformance to `Sequence` is isolated to an actor, such
  /// as a type of a module that is isolated to the main actor. The bytes are copied on that actor,
  /// and written on another thread.
  ///
  /// - Parameters:
  ///   - bytes: The content of the asset.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `SQLiteError` if the row can't be inserted; `CancellationError` if the task was cancelled.
  ///   Nothing is stored then.
  @discardableResult
  @_alwaysEmitIntoClient  // Only programs that call it contain its code.
  nonisolated(nonsending) public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await put(Array(bytes), extension: fileExtension)
  }

  /// Creates an asset from a copy of a file, as part of the open transaction and in constant
  /// memory.
  ///
  /// Other writers have to wait while a large file is copied. To copy it before the transaction,
  /// use `stage(contentsOf:extension:)`.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a symbolic link to one.
  ///   - fileExtension: The file name extension of the copy; nil or empty for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The record of the new asset.
  /// - Throws: ``AssetError`` if the extension is invalid or the file can't be copied;
  ///   `SQLiteError` if the row can't be inserted, or if the open transaction was begun with SQL.
  ///   Nothing is stored then.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) { try copy(ofFile: path, extension: fileExtension) }
  }

  /// Creates an asset from a copy of a file, in its own transaction and in constant memory. Blocks
  /// the thread.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a symbolic link to one.
  ///   - fileExtension: The file name extension of the copy; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: ``AssetError`` if the extension is invalid or the file can't be copied;
  ///   `SQLiteError` if the row can't be inserted. Nothing is stored then.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try putStaged(copy(ofFile: path, extension: fileExtension, syncing: true))
  }

  /// Creates an asset from a copy of a file, in its own transaction and in constant memory.
  /// Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a symbolic link to one.
  ///   - fileExtension: The file name extension of the copy; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: ``AssetError`` if the extension is invalid or the file can't be copied;
  ///   `SQLiteError` if the row can't be inserted; `CancellationError` if the task was cancelled.
  ///   Nothing is stored then.
  @discardableResult
  nonisolated(nonsending) public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await putStaged(stage(contentsOf: path, extension: fileExtension))
  }

  /// Creates an asset from staged content, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - staged: The content. It is copied if it was already put, or was staged by another store.
  ///   - fileExtension: The file name extension; nil for that of the staged content, `""` for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The record of the new asset.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be copied;
  ///   `SQLiteError` if the row can't be inserted, or if the open transaction was begun with SQL.
  ///   You can put the staged content again then.
  @discardableResult
  public func put(
    _ staged: StagedAsset, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try content(of: staged, extension: fileExtension ?? staged.fileExtension)
    }
  }

  /// Creates an asset from a copy of another asset of any store, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - reader: The open content of the other asset. Its digest is verified.
  ///   - fileExtension: The file name extension; nil for that of the other asset, `""` for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The record of the new asset, which has its own copy of the content.
  /// - Throws: ``AssetError`` if the other content is damaged or can't be copied, or the extension
  ///   is invalid; `SQLiteError` if the row can't be inserted, or if the open transaction was begun
  ///   with SQL. Nothing is stored then.
  @discardableResult
  public func put(
    copyOf reader: AssetReader, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) { try copy(of: reader, extension: fileExtension) }
  }

  /// Creates an asset from a stream of pieces, in its own transaction and in constant memory.
  ///
  ///     let film = try await assets.put(request.body, extension: "mp4")
  ///
  /// - Parameters:
  ///   - pieces: The content in pieces of any size.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The record of the new asset. The asset is durable.
  /// - Throws: Any error of the stream; ``AssetError`` if the extension is invalid or the content
  ///   can't be written; `SQLiteError` if the row can't be inserted; `CancellationError` if the
  ///   task was cancelled. Nothing is stored then.
  @discardableResult
  nonisolated(nonsending) public func put<Pieces: AsyncSequence>(
    _ pieces: Pieces, extension fileExtension: String? = nil
  ) async throws -> AssetRecord where Pieces.Element: Sequence<UInt8> {
    try await putStaged(stage(pieces, extension: fileExtension))
  }

  /// Inserts the asset row of content in a new transaction, which is short because the content was
  /// written before. Removes the content if this fails.
  private func putStaged(_ content: Content) throws -> AssetRecord {
    var isAdopted = false
    do {
      return try database.write { connection in
        isAdopted = true
        return try insert(content, in: connection)
      }
    } catch {
      // Without a transaction, no rollback has removed the file.
      if !isAdopted { pendingFolder.abandon(content.file) }
      throw error
    }
  }

  private nonisolated(nonsending) func putStaged(_ staged: StagedAsset) async throws -> AssetRecord
  {
    do {
      return try await database.write { connection in try self.put(staged, in: connection) }
    } catch {
      // Not by releasing it: the thread of the write may release its closure later.
      staged.abandon()
      throw error
    }
  }

  /// Inserts the asset row of the content that `stage` writes, in the open transaction or in a new
  /// one.
  ///
  /// `dynamic` keeps the compiler from specializing this method for each closure.
  private dynamic func insert(in connection: Connection, _ stage: () throws -> Content) throws
    -> AssetRecord
  {
    try inTransaction(connection) { try insert(try stage(), in: connection) }
  }

  /// Inserts the asset row of content that was already written. Removes the content if the
  /// insertion fails.
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

  /// Returns the staged content, or a copy of it if it was already put or was staged by another
  /// store.
  func content(of staged: StagedAsset, extension fileExtension: String?) throws -> Content {
    if let content = try staged.take(for: pendingFolder, extension: fileExtension) {
      return content
    }
    return try stage(extension: fileExtension) { writer in try staged.copy(to: &writer) }
  }

  /// Copies the content of an asset to a pending file or to memory, and throws if its digest
  /// differs from that in the record.
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
      pendingFolder.abandon(content.file)
      throw reader.damage
    }
    return content
  }

  /// Runs `body` in the open transaction, or in a new one. Throws if a transaction was begun with
  /// SQL.
  func inTransaction<Result>(
    _ connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    if connection.ownsTransaction { return try body() }
    guard connection.isAutocommit else {
      throw SQLiteError(
        .misuse,
        "assets cannot be changed in a transaction that was begun with SQL; use Database.write")
    }
    return try connection.transaction { try body() }
  }
}
