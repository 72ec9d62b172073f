import SQLiteCore

// As the blocking calls, suspending the task. Files are read and written on threads of the store's
// own, and SQL runs on those of the database.
extension AssetStore {
  /// As the blocking ``put(_:extension:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`; then nothing is left of it.
  @discardableResult
  nonisolated(nonsending) public func put(
    _ bytes: some Sequence<UInt8> & Sendable, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await put(stage(bytes, extension: fileExtension))
  }

  /// As the blocking ``put(contentsOf:extension:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`; then nothing is left of it.
  @discardableResult
  nonisolated(nonsending) public func put(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await put(stage(contentsOf: path, extension: fileExtension))
  }

  /// Puts a stream of pieces into the store, in a transaction of its own and in constant memory.
  ///
  ///     let film = try await assets.put(request.body, extension: "mp4")
  ///
  /// - Parameters:
  ///   - pieces: Bytes in pieces of any size.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: What the stream throws, ``AssetError``, ``SQLiteError`` or `CancellationError`; then
  ///   nothing is left of it.
  @discardableResult
  nonisolated(nonsending) public func put<Pieces: AsyncSequence>(
    _ pieces: Pieces, extension fileExtension: String? = nil
  ) async throws -> AssetRecord where Pieces.Element: Sequence<UInt8> {
    try await put(stage(pieces, extension: fileExtension))
  }

  /// As the blocking ``put(_:)``, suspending the task.
  ///
  /// - Parameter staged: The content.
  /// - Returns: The new asset, which is durable now.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func put(_ staged: StagedAsset) async throws -> AssetRecord {
    try await database.write { connection in try self.put(staged, in: connection) }
  }

  /// As the blocking ``replace(_:with:extension:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: The new content.
  ///   - fileExtension: The new extension; nil keeps the present one, and `""` is none.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`; then it is as it was.
  @discardableResult
  nonisolated(nonsending) public func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8> & Sendable,
    extension fileExtension: String? = nil
  ) async throws -> AssetRecord {
    try await database.write { connection in
      try self.replace(id, with: bytes, extension: fileExtension, in: connection)
    }
  }

  /// As the blocking ``replace(_:with:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - staged: The new content.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`; then it is as it was.
  @discardableResult
  nonisolated(nonsending) public func replace(
    _ id: AssetID, with staged: StagedAsset
  ) async throws -> AssetRecord {
    try await database.write { connection in try self.replace(id, with: staged, in: connection) }
  }

  /// As the blocking ``delete(_:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: Whether there was such an asset.
  /// - Throws: ``SQLiteError`` or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func delete(_ id: AssetID) async throws -> Bool {
    try await database.write { connection in try self.delete(id, in: connection) }
  }

  /// As the blocking ``record(_:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The row, or nil.
  /// - Throws: ``AssetError/damagedRow(id:)``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func record(_ id: AssetID) async throws -> AssetRecord? {
    try await database.read { connection in try self.record(id, in: connection) }
  }

  /// As the blocking ``records()``, suspending the task.
  ///
  /// - Returns: The rows.
  /// - Throws: ``AssetError/damagedRow(id:)``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func records() async throws -> [AssetRecord] {
    try await database.read { connection in try self.records(in: connection) }
  }

  /// As the blocking ``open(_:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The open content; ``AssetReader/pieces(of:)`` streams it.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func open(_ id: AssetID) async throws -> AssetReader {
    try await database.read { connection in try self.open(id, in: connection) }
  }

  /// As the blocking ``content(of:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func content(of id: AssetID) async throws -> [UInt8] {
    try await open(id).readAll()
  }

  /// As the blocking ``path(of:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: An absolute path. The file must not be written to.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func path(of id: AssetID) async throws -> String {
    try await database.read { connection in try self.path(of: id, in: connection) }
  }
}
