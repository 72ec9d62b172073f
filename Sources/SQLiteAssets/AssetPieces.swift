/// The content of an asset as a stream of pieces, in constant memory.
///
///     for try await piece in try await assets.open(id).pieces() { … }
///
/// After the last piece the digest is compared: whoever needs to know that the content is intact
/// waits for the end. Files are read on threads of the store's own.
public struct AssetPieces: AsyncSequence, Sendable {
  private let reader: AssetReader
  private let size: Int

  init(_ reader: AssetReader, size: Int) {
    self.reader = reader
    self.size = size
  }

  /// Reads piece by piece.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let worker: Worker
    private var pieces: PieceReader?

    fileprivate init(_ reader: AssetReader, size: Int) {
      worker = reader.worker
      pieces = PieceReader(reader, size: size)
    }

    /// The next piece, or nil at the end of an intact content.
    ///
    /// - Throws: ``AssetError/damagedFile(_:path:)``, also after the last piece, or
    ///   `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> [UInt8]? {
      guard let before = pieces else { return nil }
      // After an error, too, there is nothing more.
      pieces = nil
      let (piece, after) = try await worker.run {
        var pieces = before
        let piece = try pieces.next()
        return (piece, pieces)
      }
      if piece != nil { pieces = after }
      return piece
    }
  }

  /// Starts at the beginning.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader, size: size) }
}

extension AssetReader {
  /// The whole content as a stream.
  ///
  /// - Parameter size: The most bytes of one piece, at least 1.
  public func pieces(of size: Int = 256 << 10) -> AssetPieces {
    AssetPieces(self, size: size)
  }
}
