import SQLiteCore

// Each call of these is an access to the database of its own.
extension AssetStore {
  /// Puts a content into the store, in a transaction of its own.
  ///
  ///     let photo = try assets.put(bytes, extension: "jpeg")
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError`` or ``SQLiteError``; then nothing is left of the content.
  @discardableResult
  public func put(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try putStaged(stage(extension: fileExtension) { writer in try writer.write(bytes) })
  }

  /// Puts a copy of a file into the store, in a transaction of its own and in constant memory.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError`` or ``SQLiteError``; then nothing is left of the copy.
  @discardableResult
  public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    let staged = try stage(contentsOf: path, extension: fileExtension)
    return try database.write { connection in try put(staged, in: connection) }
  }

  /// Puts a staged content into the store, in a transaction of its own.
  ///
  /// - Parameter staged: The content.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError`` or ``SQLiteError``.
  @discardableResult
  public func put(_ staged: StagedAsset) throws -> AssetRecord {
    try database.write { connection in try put(staged, in: connection) }
  }

  /// Gives an asset another content, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: The new content.
  ///   - fileExtension: The new extension; nil keeps the present one, and `""` is none.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or ``SQLiteError``.
  @discardableResult
  public func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try database.write { connection in
      try replace(id, with: bytes, extension: fileExtension, in: connection)
    }
  }

  /// Gives an asset a staged content, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - staged: The new content.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or ``SQLiteError``.
  @discardableResult
  public func replace(_ id: AssetID, with staged: StagedAsset) throws -> AssetRecord {
    try database.write { connection in try replace(id, with: staged, in: connection) }
  }

  /// Deletes an asset, in a transaction of its own.
  ///
  /// - Parameter id: The asset.
  /// - Returns: Whether there was such an asset.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func delete(_ id: AssetID) throws -> Bool {
    try database.write { connection in try delete(id, in: connection) }
  }

  /// Returns what the store knows of an asset, or nil if there is none.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The row.
  /// - Throws: ``AssetError/damagedRow(id:)`` or ``SQLiteError``.
  public func record(_ id: AssetID) throws -> AssetRecord? {
    try database.read { connection in try record(id, in: connection) }
  }

  /// Returns what the store knows of all assets, in the order of their random ids.
  ///
  /// - Returns: The rows.
  /// - Throws: ``AssetError/damagedRow(id:)`` or ``SQLiteError``.
  public func records() throws -> [AssetRecord] {
    try database.read { connection in try records(in: connection) }
  }

  /// Opens the content of an asset.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The open content.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or ``SQLiteError``.
  public func open(_ id: AssetID) throws -> AssetReader {
    try database.read { connection in try open(id, in: connection) }
  }

  /// Reads the content of an asset and compares it with its digest.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``, such as ``AssetError/damagedFile(_:path:)``, or ``SQLiteError``.
  public func content(of id: AssetID) throws -> [UInt8] {
    // The file is open when the access ends, so it can be read without holding up a checkpoint.
    try open(id).readAll()
  }

  /// Returns the path at which the content of an asset is now.
  ///
  /// - Parameter id: The asset.
  /// - Returns: An absolute path. The file must not be written to.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)`` or ``AssetError/contentInRow(_:)``,
  ///   or ``SQLiteError``.
  public func path(of id: AssetID) throws -> String {
    try database.read { connection in try path(of: id, in: connection) }
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
}
