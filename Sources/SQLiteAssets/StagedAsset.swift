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
  /// The content, which stays readable here if the transaction that put it is undone.
  private let file: File?
  private let isPut = Atomic(false)

  init(_ content: Content, _ opener: Opener) throws(AssetError) {
    self.content = content
    self.opener = opener
    do {
      file = content.bytes == nil ? try opener.file(content.file) : nil
    } catch {
      opener.abandon(content.file)
      throw error
    }
  }

  deinit {
    if file != nil, !isPut.load(ordering: .acquiring) { opener.abandon(content.file) }
  }

  /// The content, which belongs to the caller from now on, or nil if it must be copied: it was put
  /// before, or is wanted under another name or by another store.
  func take(for opener: Opener, extension fileExtension: String?) -> Content? {
    guard opener === self.opener, fileExtension ?? "" == self.fileExtension ?? "",
      !isPut.exchange(true, ordering: .acquiringAndReleasing)
    else { return nil }
    return content
  }

  /// Writes a copy.
  func copy(to writer: inout ContentWriter) throws {
    if let file {
      try writer.write(contentsOf: file)
    } else {
      try writer.write(content.bytes ?? [])
    }
  }

  /// Reads the whole content.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``.
  public func readAll() throws(AssetError) -> [UInt8] {
    if let bytes = content.bytes { return bytes }
    return try file?.read(size, at: 0) ?? []
  }
}
