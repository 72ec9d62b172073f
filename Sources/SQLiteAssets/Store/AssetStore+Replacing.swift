public import SQLiteCore

extension AssetStore {
  /// Gives an asset another content, as part of the open transaction.
  ///
  /// The id stays. The old content is another file, which readers that still see it keep.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: The new content.
  ///   - fileExtension: The new extension; nil keeps the present one, and `""` is none.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or `SQLiteError`; then the asset
  ///   is as it was.
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

  /// Gives an asset a staged content, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - staged: The new content. One without extension gets the present one. Put before, or staged
  ///     by another store, it is copied.
  ///   - fileExtension: Another extension; `""` is none.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or `SQLiteError`; then the asset
  ///   is as it was.
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

  /// Gives an asset a copy of the content of an asset, as part of the open transaction.
  ///
  /// Its own content under another extension is not copied: its file gets a second name, and loses the
  /// first one after the commit.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - reader: The open content of another one, or its own, for another extension.
  ///   - fileExtension: The new extension; nil is that of the other, and `""` is none.
  ///   - connection: As for `put(_:extension:in:)`.
  /// - Returns: The asset as it is now.
  /// - Throws: ``AssetError``, such as ``AssetError/noAsset(_:)``, or `SQLiteError`; then the asset
  ///   is as it was.
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

  /// The content that the asset has, in a file of another name, or nil if it must be copied.
  private func renamed(
    _ present: AssetRecord, of reader: AssetReader, extension fileExtension: String?
  ) throws -> Content? {
    guard reader.record == present, reader.file != nil else { return nil }
    let name = try AssetFileName(extension: fileExtension ?? present.fileExtension)
    // A content is never changed, so that it may have two names for a while.
    guard opener.link(present.file, as: name) else { return nil }
    return Content(
      file: name, size: present.size, sha256: present.sha256, bytes: nil, isSynced: true)
  }

  /// Changes the row of an asset to a content that `stage` writes, and removes the content if that fails.
  ///
  /// It is dynamic, so that the compiler makes no copy of it for each closure.
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
