import SQLiteCore
import Synchronization
import SystemFiles

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

  /// As ``stage(_:extension:)``, without blocking the task.
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
    try StagedAsset(copy(ofFile: path, extension: fileExtension, syncing: true), opener)
  }

  /// As ``stage(contentsOf:extension:)``, without blocking the task.
  nonisolated(nonsending) public func stage(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    try await worker.run { try self.stage(contentsOf: path, extension: fileExtension) }
  }

  /// As ``stage(contentsOf:extension:)``, for a content that is put once: many can wait for that.
  package func stageOnce(
    contentsOf path: String, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(
      copy(ofFile: path, extension: fileExtension, syncing: true), opener, isKept: false)
  }

  /// Writes a copy of an asset of another store, for being put once.
  package func stageOnce(
    copyOf reader: AssetReader, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(
      copy(of: reader, extension: fileExtension, syncing: true), opener, isKept: false)
  }

  func copy(
    ofFile path: String, extension fileExtension: String?, syncing syncs: Bool = false
  ) throws -> Content {
    try stage(extension: fileExtension, syncing: syncs) { writer in
      try writer.write(contentsOf: File.open(path: path, operations))
    }
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
    piece.reserveCapacity(File.pieceSize)
    for try await byte in bytes {
      piece.append(byte)
      guard piece.count == File.pieceSize else { continue }
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
  /// - Parameters:
  ///   - fileExtension: The extension of the file's name.
  ///   - minimumFileSize: From which size on it is a file; nil is what the store says.
  ///   - syncs: Whether to sync it now, outside the transaction, instead of with the others.
  ///   - write: Writes the bytes.
  func stage(
    extension fileExtension: String?, minimumFileSize: Int? = nil, syncing syncs: Bool = false,
    _ write: (inout ContentWriter) throws -> Void
  ) throws -> Content {
    let name = try AssetFileName(extension: fileExtension)
    var writer = ContentWriter(
      name, opener, minimumFileSize: minimumFileSize ?? self.minimumFileSize)
    do {
      try write(&writer)
      return try writer.finish(syncing: syncs)
    } catch {
      writer.abandon()
      throw error
    }
  }
}

/// A content that is in a store's folder, but no asset yet.
///
///     let staged = try await assets.stage(request.body, extension: "mp4")
///     try await database.write { connection in
///       let film = try assets.put(staged, in: connection)
///       try connection.executeChange("INSERT INTO film (asset) VALUES (\(film.id))")
///     }
///
/// It is written before the transaction begins, so that others wait for less, and so that it may come
/// from a stream, which no transaction waits for. Unless it is put it goes away with this value.
public final class StagedAsset: Sendable {
  /// The number of bytes.
  public var size: Int { content.size }
  /// The SHA-256 of the bytes.
  public var sha256: AssetDigest { content.sha256 }
  /// The extension that the file's name will have, or nil.
  public var fileExtension: String? { content.file.fileExtension }

  let content: Content
  private let opener: Opener
  /// The content, which stays readable here if the transaction that put it is undone; nil for a
  /// content in memory, and if that is not asked for.
  private let file: File?
  private let isPut = Atomic(false)

  /// Takes over a content.
  ///
  /// - Parameter isKept: Whether it can be put, and read, once more after it was put. It is an open
  ///   file then, of which a process may not have many.
  init(_ content: Content, _ opener: Opener, isKept: Bool = true) throws(AssetError) {
    self.content = content
    self.opener = opener
    do {
      file = isKept && content.bytes == nil ? try opener.file(content.file) : nil
    } catch {
      opener.abandon(content.file)
      throw error
    }
  }

  deinit {
    if content.bytes == nil, !isPut.load(ordering: .acquiring) { opener.abandon(content.file) }
  }

  /// The content, which belongs to the caller from now on, or nil if it must be copied: it was put
  /// before, or is wanted by another store.
  ///
  /// - Parameter fileExtension: The extension for its file.
  func take(
    for opener: Opener, extension fileExtension: String?
  ) throws(AssetError) -> Content? {
    let isNamed = fileExtension ?? "" == self.fileExtension ?? ""
    let name = isNamed ? content.file : try AssetFileName(extension: fileExtension)
    guard opener === self.opener, !isPut.exchange(true, ordering: .acquiringAndReleasing) else {
      return nil
    }
    if !isNamed, content.bytes == nil, !opener.rename(content.file, to: name) {
      isPut.store(false, ordering: .releasing)
      return nil
    }
    return Content(
      file: name, size: size, sha256: sha256, bytes: content.bytes, isSynced: content.isSynced)
  }

  /// Writes a copy.
  func copy(to writer: inout ContentWriter) throws {
    if let bytes = content.bytes {
      try writer.write(bytes)
    } else {
      try writer.write(contentsOf: opened())
    }
  }

  private func opened() throws(AssetError) -> File {
    if let file { return file }
    return try opener.file(content.file)
  }

  /// Reads the whole content.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``.
  public func readAll() throws(AssetError) -> [UInt8] {
    if let bytes = content.bytes { return bytes }
    return try opened().read(size, at: 0)
  }

  /// As ``readAll()``, without blocking the task.
  nonisolated(nonsending) public func readAll() async throws -> [UInt8] {
    try await Worker().run { try self.readAll() }
  }
}

/// Writes a content that comes piece by piece, on one thread after the other.
final class StreamWriter: Sendable {
  private let opener: Opener
  private let writer: Mutex<ContentWriter?>

  init(_ store: AssetStore, extension fileExtension: String?) throws(AssetError) {
    opener = store.opener
    let name = try AssetFileName(extension: fileExtension)
    writer = Mutex(
      ContentWriter(name, store.opener, minimumFileSize: store.minimumFileSize))
  }

  /// Removes what was written of a stream that did not come to its end.
  deinit {
    writer.withLock { $0?.abandon() }
  }

  func write(_ bytes: [UInt8]) throws {
    try writer.withLock { try $0?.write(bytes) }
  }

  /// Ends the content, and makes it last.
  func finish() throws -> StagedAsset {
    let content = try writer.withLock { writer throws(AssetError) in
      let content = try writer?.finish(syncing: true)
      writer = nil
      return content
    }
    guard let content else { throw CancellationError() }
    return try StagedAsset(content, opener)
  }
}
