import SQLiteCore
import Synchronization
import SystemFiles

extension AssetStore {
  /// Stages content, to be put into the store later. Blocks the thread.
  ///
  /// The content is written to a file in the store's folder. If it is smaller than
  /// ``minimumFileSize``, it stays in memory instead.
  ///
  /// - Parameters:
  ///   - bytes: The content to store.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written. Nothing
  ///   is stored then.
  public func stage(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> StagedAsset {
    try StagedAsset(
      stage(extension: fileExtension, syncing: true) { writer in try writer.write(bytes) },
      pendingFolder)
  }

  /// Stages content, to be put into the store later. Suspends the task meanwhile.
  ///
  /// The content is written to a file in the store's folder. If it is smaller than
  /// ``minimumFileSize``, it stays in memory instead.
  ///
  /// - Parameters:
  ///   - bytes: The content to store. If it isn't `Sendable`, you give it away and cannot use it
  ///     afterwards.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `CancellationError` if the task was cancelled. Nothing is stored then.
  nonisolated(nonsending) public func stage(
    _ bytes: sending some Sequence<UInt8> & SendableMetatype, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    let bytes = Handoff(bytes)
    return try await worker.run { try self.stage(bytes.take(), extension: fileExtension) }
  }

  /// Stages content that can be iterated only on the actor of the caller, to be put into the store
  /// later. Suspends the task meanwhile.
  ///
  /// This form is used for a sequence whose conformance to `Sequence` is isolated to an actor, such
  /// as a type of a module that is isolated to the main actor. The bytes are copied on that actor,
  /// and written on another thread.
  ///
  /// - Parameters:
  ///   - bytes: The content to store.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: ``AssetError`` if the extension is invalid or the content can't be written;
  ///   `CancellationError` if the task was cancelled. Nothing is stored then.
  @_alwaysEmitIntoClient  // Only programs that call it contain its code.
  nonisolated(nonsending) public func stage(
    _ bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    try await stage(Array(bytes), extension: fileExtension)
  }

  /// Stages a copy of a file, to be put into the store later. Blocks the thread.
  ///
  /// The file is copied to the store's folder in constant memory. If it is smaller than
  /// ``minimumFileSize``, it is read into memory instead.
  ///
  /// The copy is a copy-on-write clone if the file system supports it (`FICLONE` on Linux, with
  /// Btrfs and XFS; `clonefile` on Apple platforms). The file is always read once, to compute the
  /// digest.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a symbolic link to one.
  ///   - fileExtension: The file name extension of the copy; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: ``AssetError`` if the extension is invalid or the file can't be copied. Nothing is
  ///   stored then.
  public func stage(
    contentsOf path: String, extension fileExtension: String? = nil
  ) throws -> StagedAsset {
    try StagedAsset(copy(ofFile: path, extension: fileExtension, syncing: true), pendingFolder)
  }

  /// Stages a copy of a file, to be put into the store later. Suspends the task meanwhile.
  ///
  /// The file is copied to the store's folder in constant memory. If it is smaller than
  /// ``minimumFileSize``, it is read into memory instead.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file, or of a symbolic link to one.
  ///   - fileExtension: The file name extension of the copy; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: ``AssetError`` if the extension is invalid or the file can't be copied;
  ///   `CancellationError` if the task was cancelled. Nothing is stored then.
  nonisolated(nonsending) public func stage(
    contentsOf path: String, extension fileExtension: String? = nil
  ) async throws -> StagedAsset {
    try await worker.run { try self.stage(contentsOf: path, extension: fileExtension) }
  }

  /// Copies a file to the store's folder, to be put into the store only once. Keeps no file open,
  /// so many staged contents can exist at the same time.
  package func stageOnce(
    contentsOf path: String, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(
      copy(ofFile: path, extension: fileExtension, syncing: true), pendingFolder, isKept: false)
  }

  /// Copies an asset of another store to this store's folder, to be put into this store only once.
  /// Keeps no file open.
  package func stageOnce(
    copyOf reader: AssetReader, extension fileExtension: String?
  ) throws -> StagedAsset {
    try StagedAsset(
      copy(of: reader, extension: fileExtension, syncing: true), pendingFolder, isKept: false)
  }

  func copy(
    ofFile path: String, extension fileExtension: String?, syncing syncs: Bool = false
  ) throws -> Content {
    try stage(extension: fileExtension, syncing: syncs) { writer in
      try writer.write(contentsOf: File.open(path: path, operations))
    }
  }

  /// Stages content that arrives as a stream of pieces, to be put into the store later.
  ///
  /// The content is written to a file in the store's folder in constant memory. If it is smaller
  /// than ``minimumFileSize``, it stays in memory instead.
  ///
  /// - Parameters:
  ///   - pieces: The content in pieces of any size, for example `Data` values.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: Any error of the stream; ``AssetError`` if the extension is invalid or the content
  ///   can't be written; `CancellationError` if the task was cancelled. Nothing is stored then.
  nonisolated(nonsending) public func stage<Pieces: AsyncSequence>(
    _ pieces: Pieces, extension fileExtension: String? = nil
  ) async throws -> StagedAsset where Pieces.Element: Sequence<UInt8> {
    let stream = try StreamWriter(self, extension: fileExtension)
    do {
      for try await piece in pieces {
        let bytes = piece as? [UInt8] ?? piece.map(\.self)
        try await worker.run { try stream.write(bytes) }
      }
      return try await worker.run { try stream.finish() }
    } catch {
      stream.abandon()
      throw error
    }
  }

  /// Stages content that arrives as a stream of bytes, to be put into the store later.
  ///
  /// The content is written to a file in the store's folder in constant memory. If it is smaller
  /// than ``minimumFileSize``, it stays in memory instead.
  ///
  /// - Parameters:
  ///   - bytes: The content, for example the `resourceBytes` of a URL on Apple platforms.
  ///   - fileExtension: The file name extension; nil or empty for none.
  /// - Returns: The staged content.
  /// - Throws: Any error of the stream; ``AssetError`` if the extension is invalid or the content
  ///   can't be written; `CancellationError` if the task was cancelled. Nothing is stored then.
  nonisolated(nonsending) public func stage<Bytes: AsyncSequence>(
    _ bytes: Bytes, extension fileExtension: String? = nil
  ) async throws -> StagedAsset where Bytes.Element == UInt8 {
    let stream = try StreamWriter(self, extension: fileExtension)
    var piece: [UInt8] = []
    piece.reserveCapacity(File.pieceSize)
    do {
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
    } catch {
      stream.abandon()
      throw error
    }
  }

  /// Writes content that no row references yet to a pending file or, if it is small, to memory.
  /// Removes the content if `write` throws.
  ///
  /// - Parameters:
  ///   - fileExtension: The file name extension.
  ///   - minimumFileSize: The size in bytes from which the content is stored in a file; nil for the
  ///     store's setting.
  ///   - syncs: Whether to make the file durable now, outside the transaction, instead of together
  ///     with others.
  ///   - write: A closure that writes the bytes.
  func stage(
    extension fileExtension: String?, minimumFileSize: Int? = nil, syncing syncs: Bool = false,
    _ write: (inout ContentWriter) throws -> Void
  ) throws -> Content {
    let name = try AssetFileName(extension: fileExtension)
    var writer = ContentWriter(
      name, pendingFolder, minimumFileSize: minimumFileSize ?? self.minimumFileSize)
    do {
      try write(&writer)
      return try writer.finish(syncing: syncs)
    } catch {
      writer.abandon()
      throw error
    }
  }
}

/// Content that was given to a store but doesn't belong to an asset yet. It is in a file in the
/// store's folder or, if it is smaller than ``AssetStore/minimumFileSize``, in memory.
///
///     let staged = try await assets.stage(request.body, extension: "mp4")
///     try await database.write { connection in
///       let film = try assets.put(staged, in: connection)
///       try connection.executeChange("INSERT INTO film (asset) VALUES (\(film.id))")
///     }
///
/// Content is staged before the transaction begins. This keeps the transaction short, and the
/// content may come from a stream, for which a transaction can't wait. Content that was never put
/// into the store is removed when this instance is released.
public final class StagedAsset: Sendable {
  /// The size of the content in bytes.
  public var size: Int { content.size }
  /// The SHA-256 digest of the content.
  public var sha256: AssetDigest { content.sha256 }
  /// The file name extension of the staged content, or nil if there is none. The asset gets it
  /// unless `put` or `replace` specifies another one.
  public var fileExtension: String? { content.file.fileExtension }

  let content: Content
  private let pendingFolder: PendingFolder
  /// The open file, which stays readable if the transaction that put the content is rolled back.
  /// Nil if the content is in memory or is put only once.
  private let file: File?
  private let isPut = Atomic(false)

  /// Creates staged content from a pending file or from bytes in memory.
  ///
  /// - Parameters:
  ///   - content: The content, which this instance owns from now on.
  ///   - pendingFolder: The folder that contains the file.
  ///   - isKept: Whether the content can be put and read again after it was put. If true, this
  ///     instance keeps a file open; a process can have only a limited number of open files.
  init(_ content: Content, _ pendingFolder: PendingFolder, isKept: Bool = true) throws(AssetError) {
    self.content = content
    self.pendingFolder = pendingFolder
    do {
      file = isKept && content.bytes == nil ? try pendingFolder.file(content.file) : nil
    } catch {
      pendingFolder.abandon(content.file)
      throw error
    }
  }

  deinit { abandon() }

  /// Removes content that was never put into the store.
  func abandon() {
    guard content.bytes == nil, !isPut.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    pendingFolder.abandon(content.file)
  }

  /// Transfers ownership of the content to the caller. Returns nil if the content must be copied,
  /// because it was already put, another store needs it, or its file can't be renamed.
  ///
  /// - Parameters:
  ///   - pendingFolder: The folder of the store that needs the content.
  ///   - fileExtension: The extension of the asset's file; nil or empty for none.
  func take(
    for pendingFolder: PendingFolder, extension fileExtension: String?
  ) throws(AssetError) -> Content? {
    let isNamed = fileExtension ?? "" == self.fileExtension ?? ""
    let name = isNamed ? content.file : try AssetFileName(extension: fileExtension)
    guard pendingFolder === self.pendingFolder,
      !isPut.exchange(true, ordering: .acquiringAndReleasing)
    else {
      return nil
    }
    if !isNamed, content.bytes == nil, !pendingFolder.rename(content.file, to: name) {
      isPut.store(false, ordering: .releasing)
      return nil
    }
    return Content(
      file: name, size: size, sha256: sha256, bytes: content.bytes, isSynced: content.isSynced)
  }

  /// Writes a copy of the staged content to `writer`.
  func copy(to writer: inout ContentWriter) throws {
    if let bytes = content.bytes {
      try writer.write(bytes)
    } else {
      try writer.write(contentsOf: opened())
    }
  }

  private func opened() throws(AssetError) -> File {
    if let file { return file }
    return try pendingFolder.file(content.file)
  }

  /// Reads the whole content into memory. Blocks the thread.
  ///
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError`` if the file can't be read.
  public func readAll() throws(AssetError) -> [UInt8] {
    if let bytes = content.bytes { return bytes }
    return try opened().read(size, at: 0)
  }

  /// Reads the whole content into memory, and suspends the task meanwhile.
  ///
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError`` if the file can't be read; `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func readAll() async throws -> [UInt8] {
    try await Worker().run { try self.readAll() }
  }
}

/// A writer for content that arrives in pieces, on varying threads.
package final class StreamWriter: Sendable {
  private let pendingFolder: PendingFolder
  private let writer: Mutex<ContentWriter?>

  /// - Parameters:
  ///   - store: The store to whose folder the content is written.
  ///   - fileExtension: The file name extension; nil or empty for none.
  ///   - minimumFileSize: The size in bytes from which the content is stored in a file; nil for the
  ///     store's setting.
  /// - Throws: ``AssetError`` if the extension is invalid.
  package init(
    _ store: AssetStore, extension fileExtension: String? = nil, minimumFileSize: Int? = nil
  ) throws(AssetError) {
    pendingFolder = store.pendingFolder
    let name = try AssetFileName(extension: fileExtension)
    writer = Mutex(
      ContentWriter(
        name, store.pendingFolder, minimumFileSize: minimumFileSize ?? store.minimumFileSize))
  }

  deinit { abandon() }

  /// Removes the content of a stream that didn't reach its end.
  ///
  /// The task calls it explicitly, because a thread that has run a closure for the task may release
  /// the closure, and this writer with it, after the task has resumed.
  package func abandon() {
    writer.withLock { writer in
      writer?.abandon()
      writer = nil
    }
  }

  package func write(_ bytes: [UInt8]) throws {
    try writer.withLock { try $0?.write(bytes) }
  }

  /// Completes the content, makes it durable, and returns it as staged content.
  ///
  /// - Parameter isKept: Whether the content can be put and read again after it was put. If true,
  ///   the staged content keeps a file open.
  /// - Throws: ``AssetError`` if the content can't be written; `CancellationError` if the stream
  ///   was already finished.
  package func finish(isKept: Bool = true) throws -> StagedAsset {
    let content = try writer.withLock { writer throws(AssetError) in
      let content = try writer?.finish(syncing: true)
      writer = nil
      return content
    }
    guard let content else { throw CancellationError() }
    return try StagedAsset(content, pendingFolder, isKept: isKept)
  }
}
