public import SQLiteAssets
import SQLiteCore

public import Essentials

extension MagicAsset {
  /// As ``value``, suspending the task while the file is read.
  ///
  /// - Returns: The content; nil if there is none.
  /// - Throws: ``AssetError``, ``SQLiteError``, `CancellationError`, or what the conversion throws.
  nonisolated(nonsending) public func load() async throws -> Element? {
    switch state {
    case .value(let live): return live.value as? Element
    case .stored(let handle):
      guard let record = try await handle.record() else { return nil }
      if let known = known(record) { return known }
      guard let reader = try await handle.open() else { return nil }
      let bytes = try await reader.readAll()
      return try keep(Element(assetData: Data(bytes)), of: reader.record)
    case .empty, .file, .staged: return try await loadData().map { try Element(assetData: $0) }
    }
  }

  /// As ``data``, suspending the task while the file is read.
  ///
  /// - Returns: The bytes; nil if there is none.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func loadData() async throws -> Data? {
    switch state {
    case .empty, .value: return try data
    case .file(let url): return Data(try await UserFile.contents(of: MagicAsset.path(of: url)))
    case .staged(let staged): return Data(try await staged.readAll())
    case .stored(let handle):
      guard let reader = try await handle.open() else { return nil }
      return Data(try await reader.readAll())
    }
  }

  /// As the blocking ``open()``, suspending the task.
  ///
  /// The result knows size, digest, extension and path without more waiting.
  ///
  /// - Returns: The open content; nil before the asset is saved.
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
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
  /// - Throws: ``AssetError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func pieces(of size: Int = 256 << 10) async throws -> AssetPieces?
  {
    try await open()?.pieces(of: size)
  }
}
