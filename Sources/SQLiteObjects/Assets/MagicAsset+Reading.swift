public import SQLiteAssets
import SQLiteCore
import SQLiteMapping

public import Essentials

extension MagicAsset {
  /// Reads the content, blocking the thread while the file is read.
  ///
  /// This is the content that is in the store now, not the one at the time of the fetch. All who
  /// hold this asset share it; the file is read again if the content was replaced since.
  ///
  /// - Returns: The content; nil if there is none.
  /// - Throws: `AssetError`, `SQLiteError`, or what the conversion throws.
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

  /// As ``get()``, without blocking the task.
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

  /// Reads the bytes of the content and compares them with their digest, blocking the thread.
  ///
  /// - Returns: The bytes; nil if there is no content.
  /// - Throws: `AssetError` or `SQLiteError`.
  public func data() throws -> Data? {
    switch state {
    case .empty: return nil
    case .value(let live): return try (live.value as? Element)?.assetData
    case .file(let url): return Data(try MagicAsset.userFile(url).readAll())
    case .staged(let staged): return Data(try staged.readAll())
    case .stored(let handle): return try handle.open().map { Data(try $0.readAll()) }
    }
  }

  /// As ``data()``, without blocking the task.
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

  /// Opens the content, to read parts of it; nil before the asset is saved.
  ///
  /// - Throws: `AssetError`, such as `AssetError.missingFile(_:path:)`, or `SQLiteError`.
  public func open() throws -> AssetReader? {
    guard case .stored(let handle) = state else { return nil }
    return try handle.open()
  }

  /// As ``open()``, without blocking the task. Throws `CancellationError` too.
  ///
  /// The result knows size, digest, extension and path without more waiting.
  nonisolated(nonsending) public func open() async throws -> AssetReader? {
    guard case .stored(let handle) = state else { return nil }
    return try await handle.open()
  }

  /// The content piece by piece, for one larger than memory; nil before the asset is saved.
  ///
  ///     for try await piece in try await film.file.pieces() ?? … { … }
  ///
  /// - Parameter size: The most bytes of one piece.
  /// - Returns: The stream, which compares the digest at its end.
  /// - Throws: `AssetError`, `SQLiteError` or `CancellationError`.
  nonisolated(nonsending) public func pieces(
    of size: Int = 256 << 10
  ) async throws -> (some AsyncSequence<[UInt8], any Error> & Sendable)? {
    try await open()?.pieces(of: size)
  }

  /// The path of the file; nil before the asset is saved, and for a content that is in the row.
  ///
  /// The file must not be written to. It is another one when the content was replaced.
  public var path: String? {
    get throws { try open()?.path }
  }

  /// The URL of the file, as ``path``.
  public var url: URL? {
    get throws { try path.map { URL(filePath: $0, directoryHint: .notDirectory) } }
  }

  /// The extension of the file's name, known without reading the file; nil if there is none.
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

  /// The size in bytes, known without reading the file once the asset is saved.
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

  /// The SHA-256 of the bytes, known without reading the file once the asset is saved; nil if there is
  /// no content.
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

  /// The path of a file of the user's.
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

  /// The value of this content that somebody has read and still holds.
  func known(_ record: AssetRecord) -> Element? {
    holder?.value(of: record)?.value as? Element
  }

  /// Shares what was read.
  func keep(_ value: Element, of record: AssetRecord) -> Element {
    holder?.set(_LiveValue(value), of: record)
    return value
  }
}
