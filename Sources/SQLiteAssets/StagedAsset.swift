import Synchronization

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
  public var sha256: SHA256.Digest { content.sha256 }
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
  /// - Parameter fileExtension: The extension that its file shall have.
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
    return Content(file: name, size: size, sha256: sha256, bytes: content.bytes)
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

  /// As the blocking ``readAll()``, suspending the task.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``AssetError`` or `CancellationError`.
  nonisolated(nonsending) public func readAll() async throws -> [UInt8] {
    try await Worker().run { try self.readAll() }
  }
}
