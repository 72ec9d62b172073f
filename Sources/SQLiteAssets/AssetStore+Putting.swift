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
  /// - Throws: ``AssetError`` or ``SQLiteError``; then nothing is left of the content.
  /// - Complexity: O(*n*). Files are synced once, before the transaction commits.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try stage(extension: fileExtension) { writer in try writer.write(bytes) }
    }
  }

  /// Puts a copy of a file into the store, as part of the open transaction, in constant memory.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  ///   - connection: As for ``put(_:extension:in:)``.
  /// - Returns: The new asset.
  /// - Throws: ``AssetError`` or ``SQLiteError``; then nothing is left of the copy.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil, in connection: Connection
  ) throws -> AssetRecord {
    try insert(in: connection) {
      try stage(extension: fileExtension) { writer in try writer.write(contentsOf: path) }
    }
  }

  /// Gives an asset another content, as part of the open transaction.
  ///
  /// The id stays. The old content is another file, which readers that still see it keep.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: The new content.
  ///   - fileExtension: The new extension; nil keeps the present one, and `""` is none.
  ///   - connection: As for ``put(_:extension:in:)``.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or ``SQLiteError``; then the asset
  ///   is as it was.
  @discardableResult
  public func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8>, extension fileExtension: String? = nil,
    in connection: Connection
  ) throws -> AssetRecord {
    try inTransaction(connection) {
      guard let present = try record(id, in: connection) else { throw AssetError.noAsset(id) }
      let content = try stage(extension: fileExtension ?? present.fileExtension) { writer in
        try writer.write(bytes)
      }
      return try replace(id, with: content, in: connection)
    }
  }

  /// Deletes an asset, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: As for ``put(_:extension:in:)``.
  /// - Returns: Whether there was such an asset.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func delete(_ id: AssetID, in connection: Connection) throws -> Bool {
    try inTransaction(connection) {
      let change = try connection.executeChange(
        "DELETE FROM main.magicdata_asset WHERE id = \(id)")
      if change.rows > 0 { scheduleUpkeep(in: connection) }
      return change.rows > 0
    }
  }

  /// Inserts the row of a content that `stage` writes.
  func insert(in connection: Connection, _ stage: () throws -> Content) throws -> AssetRecord {
    try inTransaction(connection) { try insert(try stage(), in: connection) }
  }

  /// Inserts the row of a content, which is removed if that fails.
  func insert(_ content: Content, in connection: Connection) throws -> AssetRecord {
    let id = AssetID()
    try adopt(content, in: connection) {
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_asset (id, file, size, sha256)
        VALUES (\(id), \(content.file.text), \(content.size), \(content.sha256.bytes))
        """)
    }
    return AssetRecord(id: id, content: content)
  }

  /// Lets the row of an asset name a content, which is removed if that fails.
  func replace(
    _ id: AssetID, with content: Content, in connection: Connection
  ) throws -> AssetRecord {
    try adopt(content, in: connection) {
      let change = try connection.executeChange(
        """
        UPDATE main.magicdata_asset SET file = \(content.file.text), size = \(content.size),
          sha256 = \(content.sha256.bytes) WHERE id = \(id)
        """)
      guard change.rows > 0 else { throw AssetError.noAsset(id) }
    }
    scheduleUpkeep(in: connection)
    return AssetRecord(id: id, content: content)
  }

  private func adopt(
    _ content: Content, in connection: Connection, _ change: () throws -> Void
  ) throws {
    do {
      try change()
    } catch {
      opener.abandon(content.file)
      throw error
    }
    let (opener, file) = (opener, content.file)
    opener.adopt(file)
    connection.beforeCommit { _ in try opener.sync() }
    connection.afterCommit { _ in opener.settle(file) }
    connection.afterRollback { _ in opener.discard(file) }
    if !opener.unsettled.isEmpty { scheduleUpkeep(in: connection) }
  }

  /// Runs `body` in the open transaction, or in one of its own.
  private func inTransaction<Result>(
    _ connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    if connection.ownsTransaction { return try body() }
    guard connection.isAutocommit else {
      throw SQLiteError(
        .misuse, "assets cannot be changed between BEGIN and COMMIT in SQL: use write")
    }
    return try connection.transaction { try body() }
  }
}
