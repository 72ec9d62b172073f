public import SQLiteCore

extension AssetStore {
  /// Returns the record of an asset, or nil if the asset doesn't exist.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The record, with the size and digest of the content.
  /// - Throws: ``AssetError/damagedRow(id:)`` if the row is invalid; `SQLiteError` if it can't be
  ///   read.
  public func record(_ id: AssetID, in connection: Connection) throws -> AssetRecord? {
    try record(where: "id = \(id)", in: connection)
  }

  /// Returns the record of the first asset whose row fulfills an SQL condition, or nil if no row
  /// does.
  func record(where condition: SQL, in connection: Connection) throws -> AssetRecord? {
    try rows("WHERE \(condition)", in: connection).first?.record()
  }

  /// Returns the asset rows that a SELECT statement returns. `rest` is the SQL after its FROM
  /// clause, such as a WHERE clause.
  func rows(_ rest: SQL, in connection: Connection) throws -> [AssetRow] {
    try connection.rows(
      "SELECT id, file, size, sha256, content IS NOT NULL FROM main.magicdata_asset \(rest)",
      as: Value.self, Value.self, Value.self, Value.self, Bool.self
    ).map { AssetRow(id: $0, file: $1, size: $2, sha256: $3, isInRow: $4) }
  }

  /// Returns the records of all assets, sorted by id. Ids are random, so this isn't the order in
  /// which the assets were created.
  ///
  /// - Parameter connection: A connection inside `read` or `write`.
  /// - Returns: The records.
  /// - Throws: ``AssetError/damagedRow(id:)`` if a row is invalid; `SQLiteError` if the rows can't
  ///   be read.
  public func records(in connection: Connection) throws -> [AssetRecord] {
    try rows("ORDER BY id", in: connection).map { row in try row.record() }
  }

  /// Returns the records of all assets, sorted by id. Blocks the thread.
  ///
  /// Ids are random, so this isn't the order in which the assets were created.
  ///
  /// - Returns: The records.
  /// - Throws: ``AssetError/damagedRow(id:)`` if a row is invalid; `SQLiteError` if the rows can't
  ///   be read.
  public func records() throws -> [AssetRecord] {
    try database.read { connection in try records(in: connection) }
  }

  /// Returns the records of all assets, sorted by id. Suspends the task meanwhile.
  ///
  /// Ids are random, so this isn't the order in which the assets were created.
  ///
  /// - Returns: The records.
  /// - Throws: ``AssetError/damagedRow(id:)`` if a row is invalid; `SQLiteError` if the rows can't
  ///   be read; `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func records() async throws -> [AssetRecord] {
    try await database.read { connection in try self.records(in: connection) }
  }

  /// Opens the content of an asset for reading.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The open content. You can use it after the access to the database has ended.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read.
  public func open(_ id: AssetID, in connection: Connection) throws -> AssetReader {
    guard let record = try record(id, in: connection) else { throw AssetError.noAsset(id) }
    return try open(record, in: connection)
  }

  /// Opens the content that a record describes.
  ///
  /// If the asset has been replaced or deleted since you read the record, its file may be gone,
  /// unless the access that read the record is still running.
  ///
  /// - Parameters:
  ///   - record: A record of this store.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The open content. You can use it after the access to the database has ended.
  /// - Throws: ``AssetError/missingFile(_:path:)`` if the file doesn't exist;
  ///   ``AssetError/noAsset(_:)`` if content in a row was replaced or deleted; other ``AssetError``
  ///   cases if the content is damaged or unreadable; `SQLiteError` if the row can't be read.
  public func open(_ record: AssetRecord, in connection: Connection) throws -> AssetReader {
    guard record.isInRow else {
      guard let file = try folder.find(record.file) else {
        throw AssetError.missingFile(record.id, path: folder.path(of: record.file))
      }
      return try AssetReader(record, file, worker)
    }
    let bytes = try connection.firstRow(
      """
      SELECT content FROM main.magicdata_asset
      WHERE id = \(record.id) AND file = \(record.file.text)
      """, as: Value.self)
    guard let bytes else { throw AssetError.noAsset(record.id) }
    guard case .blob(let bytes) = bytes else {
      throw AssetError.damagedRow(id: record.id.description)
    }
    return try AssetReader(record, bytes, worker)
  }

  /// Opens the current content of an asset for reading. Blocks the thread.
  ///
  /// - Parameter id: The id of the asset.
  /// - Returns: The open content.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read.
  public func open(_ id: AssetID) throws -> AssetReader {
    try database.read { connection in try open(id, in: connection) }
  }

  /// Opens the current content of an asset for reading, and suspends the task meanwhile.
  ///
  /// - Parameter id: The id of the asset.
  /// - Returns: The open content.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read; `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func open(_ id: AssetID) async throws -> AssetReader {
    try await database.read { connection in try self.open(id, in: connection) }
  }

  /// Reads the content of an asset into memory and verifies its digest.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read.
  public func bytes(of id: AssetID, in connection: Connection) throws -> [UInt8] {
    try open(id, in: connection).readAll()
  }

  /// Reads the content of an asset into memory and verifies its digest. Blocks the thread.
  ///
  /// - Parameter id: The id of the asset.
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read.
  public func bytes(of id: AssetID) throws -> [UInt8] {
    // The open file can be read after the access has ended, so that it doesn't delay a checkpoint.
    try open(id).readAll()
  }

  /// Reads the content of an asset into memory and verifies its digest. Suspends the task
  /// meanwhile.
  ///
  /// - Parameter id: The id of the asset.
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   its row is invalid or its file is missing, damaged or unreadable; `SQLiteError` if the row
  ///   can't be read; `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func bytes(of id: AssetID) async throws -> [UInt8] {
    try await open(id).readAll()
  }

  /// Returns the current path of an asset's file.
  ///
  /// You must not write to the file. Other calls may move it within the store, and remove it after
  /// the asset was replaced or deleted.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: An absolute path.
  /// - Throws: ``AssetError/contentInRow(_:)`` if the content isn't in a file; the errors of
  ///   ``open(_:in:)-(AssetID,_)``.
  public func path(of id: AssetID, in connection: Connection) throws -> String {
    guard let path = try open(id, in: connection).path else { throw AssetError.contentInRow(id) }
    return path
  }
}
