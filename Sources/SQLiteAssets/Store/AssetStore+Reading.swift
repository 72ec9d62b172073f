public import SQLiteCore

extension AssetStore {
  /// Returns what the store knows of an asset, or nil if there is none.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The row.
  /// - Throws: ``AssetError/damagedRow(id:)`` or `SQLiteError`.
  public func record(_ id: AssetID, in connection: Connection) throws -> AssetRecord? {
    try record(where: "id = \(id)", in: connection)
  }

  /// Returns what the store knows of the one asset whose row fulfils a condition.
  func record(where condition: SQL, in connection: Connection) throws -> AssetRecord? {
    try rows("WHERE \(condition)", in: connection).first?.record()
  }

  /// Returns the rows of assets that the rest of a SELECT finds.
  func rows(_ rest: SQL, in connection: Connection) throws -> [AssetRow] {
    try connection.rows(
      "SELECT id, file, size, sha256, content IS NOT NULL FROM main.magicdata_asset \(rest)",
      as: Value.self, Value.self, Value.self, Value.self, Bool.self
    ).map { AssetRow(id: $0, file: $1, size: $2, sha256: $3, isInRow: $4) }
  }

  /// Returns what the store knows of all assets, in the order of their random ids.
  ///
  /// - Parameter connection: A connection inside `read` or `write`.
  /// - Returns: The rows.
  /// - Throws: ``AssetError/damagedRow(id:)`` or `SQLiteError`.
  public func records(in connection: Connection) throws -> [AssetRecord] {
    try rows("ORDER BY id", in: connection).map { row in try row.record() }
  }

  /// Returns what the store knows of all assets, in the order of their random ids.
  ///
  /// - Returns: The rows.
  /// - Throws: ``AssetError/damagedRow(id:)`` or `SQLiteError`.
  public func records() throws -> [AssetRecord] {
    try database.read { connection in try records(in: connection) }
  }

  /// As ``records()``, without blocking the task.
  nonisolated(nonsending) public func records() async throws -> [AssetRecord] {
    try await database.read { connection in try self.records(in: connection) }
  }

  /// Opens the content of an asset.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`. The result may be used after it.
  /// - Returns: The open content.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or `SQLiteError`.
  public func open(_ id: AssetID, in connection: Connection) throws -> AssetReader {
    guard let record = try record(id, in: connection) else { throw AssetError.noAsset(id) }
    return try open(record, in: connection)
  }

  /// Opens the content that a record names.
  ///
  /// The file of a record that is not the asset's present one may be gone, unless the access in which
  /// it was read still lasts.
  ///
  /// - Parameters:
  ///   - record: A record of this store.
  ///   - connection: A connection inside `read` or `write`. The result may be used after it.
  /// - Returns: The open content.
  /// - Throws: ``AssetError``, such as ``AssetError/missingFile(_:path:)``, or `SQLiteError`.
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

  /// Opens the content of an asset.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The open content.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or `SQLiteError`.
  public func open(_ id: AssetID) throws -> AssetReader {
    try database.read { connection in try open(id, in: connection) }
  }

  /// As ``open(_:)``, without blocking the task.
  nonisolated(nonsending) public func open(_ id: AssetID) async throws -> AssetReader {
    try await database.read { connection in try self.open(id, in: connection) }
  }

  /// Reads the content of an asset and compares it with its digest.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``, such as ``AssetError/damagedFile(_:path:)``, or `SQLiteError`.
  public func bytes(of id: AssetID, in connection: Connection) throws -> [UInt8] {
    try open(id, in: connection).readAll()
  }

  /// Reads the content of an asset and compares it with its digest.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``, such as ``AssetError/damagedFile(_:path:)``, or `SQLiteError`.
  public func bytes(of id: AssetID) throws -> [UInt8] {
    // The file is open when the access ends, so it can be read without holding up a checkpoint.
    try open(id).readAll()
  }

  /// As ``bytes(of:)``, without blocking the task.
  nonisolated(nonsending) public func bytes(of id: AssetID) async throws -> [UInt8] {
    try await open(id).readAll()
  }

  /// Returns the path at which the content of an asset is now.
  ///
  /// The file must not be written to. Other calls may move it within the store, and remove it once the
  /// asset is replaced or deleted.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: An absolute path.
  /// - Throws: As ``open(_:in:)-(AssetID,_)``, or ``AssetError/contentInRow(_:)``.
  public func path(of id: AssetID, in connection: Connection) throws -> String {
    guard let path = try open(id, in: connection).path else { throw AssetError.contentInRow(id) }
    return path
  }
}
