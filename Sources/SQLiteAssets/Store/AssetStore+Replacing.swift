public import SQLiteCore

extension AssetStore {
  /// Replaces the content of an asset, as part of the open transaction.
  ///
  /// The asset keeps its id. The new content is stored in a new file, or in the row if it is
  /// smaller than ``minimumFileSize``. Readers that still see the old content can read it to the
  /// end.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - bytes: The new content.
  ///   - fileExtension: The new file name extension; nil to keep the current one, `""` for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The new record of the asset.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   the new content can't be read or written or the extension is invalid; `SQLiteError` if the
  ///   row can't be updated, or if the open transaction was begun with SQL. The asset is unchanged
  ///   then.
  @discardableResult
  public func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8>, extension fileExtension: String? = nil,
    in connection: Connection
  ) throws -> AssetRecord {
    try replace(id, in: connection) { present in
      try stage(extension: fileExtension ?? present.fileExtension) { writer in
        try writer.write(bytes)
      }
    }
  }

  /// Replaces the content of an asset by staged content, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - staged: The new content. It is copied if it was already put, or was staged by another
  ///     store.
  ///   - fileExtension: The new file name extension; `""` for none. If it is nil, the extension of
  ///     the staged content is used or, if that has none, the current one.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The new record of the asset.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   the new content can't be read or written or the extension is invalid; `SQLiteError` if the
  ///   row can't be updated, or if the open transaction was begun with SQL. The asset is unchanged
  ///   then.
  @discardableResult
  public func replace(
    _ id: AssetID, with staged: StagedAsset, extension fileExtension: String? = nil,
    in connection: Connection
  ) throws -> AssetRecord {
    try replace(id, in: connection) { present in
      let wanted = fileExtension ?? staged.fileExtension ?? present.fileExtension
      return try content(of: staged, extension: wanted)
    }
  }

  /// Replaces the content of an asset by a copy of another asset's content, as part of the open
  /// transaction.
  ///
  /// If `reader` reads the asset's own content from a file, only the extension changes. On a file
  /// system with hard links, the file isn't copied then: it gets a second name, and the first one
  /// is removed after the commit.
  ///
  /// - Parameters:
  ///   - id: The id of the asset.
  ///   - reader: The open content of another asset, or of the same asset.
  ///   - fileExtension: The new file name extension; nil for that of `reader`, `""` for none.
  ///   - connection: A connection inside `write`. Inside `withoutTransaction`, the call runs in its
  ///     own transaction.
  /// - Returns: The new record of the asset.
  /// - Throws: ``AssetError/noAsset(_:)`` if there is no such asset; other ``AssetError`` cases if
  ///   the new content can't be read or written or the extension is invalid; `SQLiteError` if the
  ///   row can't be updated, or if the open transaction was begun with SQL. The asset is unchanged
  ///   then.
  @discardableResult
  public func replace(
    _ id: AssetID, withCopyOf reader: AssetReader, extension fileExtension: String? = nil,
    in connection: Connection
  ) throws -> AssetRecord {
    try replace(id, in: connection) { present in
      try renamed(present, of: reader, extension: fileExtension)
        ?? copy(of: reader, extension: fileExtension)
    }
  }

  /// Returns the current content of an asset as a second file with a new name. Returns nil if
  /// `reader` reads other content, or if the content must be copied.
  private func renamed(
    _ present: AssetRecord, of reader: AssetReader, extension fileExtension: String?
  ) throws -> Content? {
    guard reader.record == present, reader.file != nil else { return nil }
    let name = try AssetFileName(extension: fileExtension ?? present.fileExtension)
    // Content never changes, so a file may have two names for a while.
    guard pendingFolder.link(present.file, as: name) else { return nil }
    return Content(
      file: name, size: present.size, sha256: present.sha256, bytes: nil, isSynced: true)
  }

  /// Updates the row of an asset with the content that `stage` writes. Removes the content if the
  /// update fails.
  ///
  /// `dynamic` keeps the compiler from specializing this method for each closure.
  private dynamic func replace(
    _ id: AssetID, in connection: Connection, _ stage: (AssetRecord) throws -> Content
  ) throws -> AssetRecord {
    try inTransaction(connection) {
      guard let present = try record(id, in: connection) else { throw AssetError.noAsset(id) }
      let content = try stage(present)
      try adopt(content, in: connection) {
        try connection.executeChange(
          """
          UPDATE main.magicdata_asset SET file = \(content.file.text), size = \(content.size),
            sha256 = \(content.sha256.bytes), content = \(content.bytes) WHERE id = \(id)
          """)
      }
      scheduleUpkeep(in: connection)
      return AssetRecord(id: id, content: content)
    }
  }
}
