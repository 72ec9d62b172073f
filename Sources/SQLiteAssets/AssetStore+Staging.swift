extension AssetStore {
  /// Writes bytes that can be put into the store later.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: ``AssetError``; then nothing is left of it.
  public func stage(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> StagedAsset {
    try StagedAsset(
      stage(extension: fileExtension, syncing: true) { writer in try writer.write(bytes) }, opener)
  }

  /// As the blocking ``stage(_:extension:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: ``AssetError`` or `CancellationError`; then nothing is left of it.
  nonisolated(nonsending) public func stage(
    _ bytes: some Sequence<UInt8> & Sendable, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    try await worker.run { try self.stage(bytes, extension: fileExtension) }
  }

  /// Writes a copy of a file that can be put into the store later, in constant memory.
  ///
  /// A file system that can let the copy share the content does so (`FICLONE` on Linux, where Btrfs
  /// and XFS have it; `clonefile` on Apple's systems). The file is read in any case, for the digest.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: ``AssetError``; then nothing is left of the copy.
  public func stage(
    contentsOf path: String, extension fileExtension: String? = nil
  ) throws -> StagedAsset {
    try StagedAsset(copy(ofFile: path, extension: fileExtension), opener)
  }

  /// As ``stage(contentsOf:extension:)``, for a content that is put once: many can wait for that.
  package func stageOnce(
    contentsOf path: String, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(copy(ofFile: path, extension: fileExtension), opener, isKept: false)
  }

  /// Writes a copy of an asset of another store, for being put once.
  package func stageOnce(
    copyOf reader: AssetReader, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(
      copy(of: reader, extension: fileExtension, syncing: true), opener, isKept: false)
  }

  private func copy(ofFile path: String, extension fileExtension: String?) throws -> Content {
    try stage(extension: fileExtension, syncing: true) { writer in
      try writer.write(contentsOf: File.open(path: path, operations))
    }
  }

  /// As the blocking ``stage(contentsOf:extension:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a link to one.
  ///   - fileExtension: The extension of the new file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: ``AssetError`` or `CancellationError`; then nothing is left of the copy.
  nonisolated(nonsending) public func stage(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    try await worker.run { try self.stage(contentsOf: path, extension: fileExtension) }
  }

  /// Writes a stream of pieces that can be put into the store later, in constant memory.
  ///
  /// - Parameters:
  ///   - pieces: Bytes in pieces of any size, such as a `Data` after the other.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: What the stream throws, ``AssetError`` or `CancellationError`; then nothing is left.
  nonisolated(nonsending) public func stage<Pieces: AsyncSequence>(
    _ pieces: Pieces, extension fileExtension: String? = nil
  ) async throws -> StagedAsset where Pieces.Element: Sequence<UInt8> {
    let stream = try StreamWriter(self, extension: fileExtension)
    for try await piece in pieces {
      let bytes = piece as? [UInt8] ?? piece.map(\.self)
      try await worker.run { try stream.write(bytes) }
    }
    return try await worker.run { try stream.finish() }
  }

  /// Writes a stream of bytes that can be put into the store later, in constant memory.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, such as the `resourceBytes` of a URL on Apple's systems.
  ///   - fileExtension: The extension of the file's name; none if nil or empty.
  /// - Returns: The content.
  /// - Throws: What the stream throws, ``AssetError`` or `CancellationError`; then nothing is left.
  nonisolated(nonsending) public func stage<Bytes: AsyncSequence>(
    _ bytes: Bytes, extension fileExtension: String? = nil
  ) async throws -> StagedAsset where Bytes.Element == UInt8 {
    let stream = try StreamWriter(self, extension: fileExtension)
    var piece: [UInt8] = []
    piece.reserveCapacity(ContentWriter.pieceSize)
    for try await byte in bytes {
      piece.append(byte)
      guard piece.count == ContentWriter.pieceSize else { continue }
      let full = piece
      try await worker.run { try stream.write(full) }
      piece.removeAll(keepingCapacity: true)
    }
    let rest = piece
    return try await worker.run {
      try stream.write(rest)
      return try stream.finish()
    }
  }

  /// Writes a content that no row names yet. It is removed if that fails.
  ///
  /// - Parameter syncs: Whether to sync it now, outside the transaction, instead of with the others.
  func stage(
    extension fileExtension: String?, syncing syncs: Bool = false,
    _ write: (inout ContentWriter) throws -> Void
  ) throws -> Content {
    let name = try AssetFileName(extension: fileExtension)
    var writer = ContentWriter(name, opener, minimumFileSize: minimumFileSize)
    do {
      try write(&writer)
      return try writer.finish(syncing: syncs)
    } catch {
      writer.abandon()
      throw error
    }
  }
}
