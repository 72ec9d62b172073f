public import SQLiteAssets
import SQLiteCore

extension MagicAsset {
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
