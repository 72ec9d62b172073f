public import SQLiteAssets
import SQLiteCore
import SQLiteMapping

public import Essentials

extension MagicAsset {
  /// Returns the content, blocking the thread while the file is read.
  ///
  /// For a saved asset, this is the content that the store has now, not the content at the time of
  /// the fetch. Copies of this asset share the value. While one of them exists, the file is read
  /// again only if the content has been replaced since.
  ///
  /// - Returns: The content, or nil if there is none.
  /// - Throws: `AssetError`, such as `AssetError.missingFile(_:path:)`, `SQLiteError` or
  ///   ``MagicError`` if the content can't be read, or any error that the conversion of the bytes
  ///   to `Element` throws.
  public func get() throws -> Element? {
    switch state {
    case .value(let live): return live.value as? Element
    case .stored(let handle):
      guard let record = try handle.record() else { return nil }
      if let known = known(record) { return known }
      guard let reader = try handle.open() else { return nil }
      return try keep(Element(assetData: Data(reader.readAll())), of: reader.record)
    case .empty, .file, .staged: return try data().map { try Element(assetData: $0) }
    }
  }

  /// Returns the content. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``get()``.
  ///
  /// - Returns: The content, or nil if there is none.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func get() async throws -> Element? {
    switch state {
    case .value(let live): return live.value as? Element
    case .stored(let handle):
      guard let record = try await handle.record() else { return nil }
      if let known = known(record) { return known }
      guard let reader = try await handle.open() else { return nil }
      let bytes = try await reader.readAll()
      return try keep(Element(assetData: Data(bytes)), of: reader.record)
    case .empty, .file, .staged: return try await data().map { try Element(assetData: $0) }
    }
  }

  /// Returns the bytes of the content, blocking the thread. Bytes from a store are verified by
  /// their digest.
  ///
  /// - Returns: The bytes, or nil if there is no content.
  /// - Throws: `AssetError`, such as `AssetError.damagedFile(_:path:)`, `SQLiteError` or
  ///   ``MagicError`` if the content can't be read, or any error that the conversion of an unsaved
  ///   value to bytes throws.
  public func data() throws -> Data? {
    switch state {
    case .empty: return nil
    case .value(let live): return try (live.value as? Element)?.assetData
    case .file(let url): return Data(try MagicAsset.userFile(url).readAll())
    case .staged(let staged): return Data(try staged.readAll())
    case .stored(let handle): return try handle.open().map { Data(try $0.readAll()) }
    }
  }

  /// Returns the bytes of the content. Bytes from a store are verified by their digest. Suspends
  /// the task meanwhile.
  ///
  /// - Returns: The bytes, or nil if there is no content.
  /// - Throws: The errors of the blocking ``data()``, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func data() async throws -> Data? {
    switch state {
    case .empty: return nil
    case .value(let live): return try (live.value as? Element)?.assetData
    case .file(let url):
      let path = try MagicAsset.path(of: url)
      return Data(try await Worker().run { try File.open(path: path).readAll() })
    case .staged(let staged): return Data(try await staged.readAll())
    case .stored(let handle):
      guard let reader = try await handle.open() else { return nil }
      return Data(try await reader.readAll())
    }
  }

  /// Opens the content, so that you can read parts of it, blocking the thread.
  ///
  /// - Returns: A reader, or nil if the asset isn't saved yet or has no content.
  /// - Throws: `AssetError`, such as `AssetError.missingFile(_:path:)`, `SQLiteError` or
  ///   ``MagicError`` if the content can't be opened.
  public func open() throws -> AssetReader? {
    guard case .stored(let handle) = state else { return nil }
    return try handle.open()
  }

  /// Opens the content, so that you can read parts of it. Suspends the task meanwhile.
  ///
  /// The size, digest, extension and path of the reader are available without suspending again.
  ///
  /// - Returns: A reader, or nil if the asset isn't saved yet or has no content.
  /// - Throws: The errors of the blocking ``open()``, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func open() async throws -> AssetReader? {
    guard case .stored(let handle) = state else { return nil }
    return try await handle.open()
  }

  /// Opens the content as a stream of pieces, for content that is larger than memory. Suspends the
  /// task meanwhile.
  ///
  ///     guard let pieces = try await film.file.pieces() else { return }
  ///     for try await piece in pieces { try output.write(piece) }
  ///
  /// - Parameter size: The maximum size of a piece in bytes.
  /// - Returns: The stream, or nil if the asset isn't saved yet or has no content. The stream
  ///   verifies the digest at its end.
  /// - Throws: `AssetError`, `SQLiteError` or ``MagicError`` if the content can't be opened, or
  ///   `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func pieces(
    of size: Int = 256 << 10
  ) async throws -> (some AsyncSequence<[UInt8], any Error> & Sendable)? {
    try await open()?.pieces(of: size)
  }

  /// The path of the file, or nil if the asset isn't saved yet, has no content, or has its content
  /// in a row of the database.
  ///
  /// Don't write to the file. The path changes when the content is replaced.
  ///
  /// - Throws: `AssetError`, such as `AssetError.missingFile(_:path:)`, `SQLiteError` or
  ///   ``MagicError`` if the content can't be opened.
  public var path: String? {
    get throws { try open()?.path }
  }

  /// The URL of the file. It is nil if ``path`` is nil.
  ///
  /// - Throws: The errors of ``path``.
  public var url: URL? {
    get throws { try path.map { URL(filePath: $0, directoryHint: .notDirectory) } }
  }

  /// The extension of the file name, or nil if it has none. Reading it doesn't read the file.
  ///
  /// - Throws: `AssetError.noAsset(_:)` if the asset was deleted together with its object,
  ///   `SQLiteError`, or ``MagicError``, such as ``MagicError/closed``.
  public var pathExtension: String? {
    get throws {
      if let newExtension { return newExtension.isEmpty ? nil : newExtension }
      switch state {
      case .empty, .value, .file: return nil
      case .staged(let staged): return staged.fileExtension
      case .stored(let handle):
        return try handle.record()?.fileExtension
      }
    }
  }

  /// The size of the content in bytes, or 0 if there is no content. For a saved asset, this
  /// property is read from the database, not from the file.
  ///
  /// - Throws: `AssetError`, such as `AssetError.noAsset(_:)` if the asset was deleted together
  ///   with its object, `SQLiteError`, ``MagicError``, or an error of the conversion of an unsaved
  ///   value to bytes.
  public var size: Int {
    get throws {
      switch state {
      case .empty: return 0
      case .value: return try data()?.count ?? 0
      case .file(let url): return try MagicAsset.userFile(url).size
      case .staged(let staged): return staged.size
      case .stored(let handle):
        return try handle.record()?.size ?? 0
      }
    }
  }

  /// The SHA-256 digest of the content, or nil if there is no content. For a saved asset, this
  /// property is read from the database, not calculated from the file.
  ///
  /// - Throws: `AssetError`, such as `AssetError.noAsset(_:)` if the asset was deleted together
  ///   with its object, `SQLiteError`, ``MagicError``, or an error of the conversion of an unsaved
  ///   value to bytes.
  public var sha256: AssetDigest? {
    get throws {
      switch state {
      case .empty: return nil
      case .value: return try data().map { SHA256.digest(of: $0.map(\.self)) }
      case .file(let url): return try MagicAsset.userFile(url).sha256()
      case .staged(let staged): return staged.sha256
      case .stored(let handle):
        return try handle.record()?.sha256
      }
    }
  }

  /// Returns the path of a file URL.
  ///
  /// - Throws: ``AssetError/invalidPath(_:)`` for any other URL.
  static func path(of url: URL) throws -> String {
    do {
      return try url.filePath()
    } catch {
      throw AssetError.invalidPath(url.absoluteString)
    }
  }

  private static func userFile(_ url: URL) throws -> File {
    try File.open(path: path(of: url))
  }

  /// Returns the value that was read from the content of `record`, or nil if no copy of the asset
  /// holds that value.
  func known(_ record: AssetRecord) -> Element? {
    holder?.value(of: record)?.value as? Element
  }

  /// Stores `value`, which was converted from the content of `record`, in the holder that the
  /// copies of the asset share. Returns `value`.
  func keep(_ value: Element, of record: AssetRecord) -> Element {
    holder?.set(_LiveValue(value), of: record)
    return value
  }
}
