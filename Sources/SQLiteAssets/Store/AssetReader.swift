import SQLiteCore
import SystemFiles

/// The content of an asset, open for reading.
///
/// You can read it to the end even if the asset is replaced or deleted in the meantime.
public struct AssetReader: Sendable {
  private enum Source: Sendable {
    case file(File)
    case bytes([UInt8])
  }

  /// The record of the asset at the time at which its content was opened.
  public let record: AssetRecord
  let worker: Worker
  private let source: Source

  init(_ record: AssetRecord, _ file: File, _ worker: Worker) throws(AssetError) {
    self.record = record
    self.worker = worker
    source = .file(file)
    guard try file.status().size == record.size else { throw damage }
  }

  init(_ record: AssetRecord, _ bytes: [UInt8], _ worker: Worker) throws(AssetError) {
    self.record = record
    self.worker = worker
    source = .bytes(bytes)
    guard bytes.count == record.size else { throw damage }
  }

  /// The path at which the file was opened, or nil if the content is in the row. The file may have
  /// been moved within the store since then.
  public var path: String? { file?.path }

  /// The open file; nil if the content is in the row.
  var file: File? {
    if case .file(let file) = source { file } else { nil }
  }

  /// Reads a part of the content, without verifying the digest. Blocks the thread.
  ///
  /// - Parameters:
  ///   - count: The number of bytes to read.
  ///   - offset: The offset of the first byte.
  /// - Returns: The bytes. There are fewer than `count` only at the end of the content, and none if
  ///   `count` isn't positive, or if `offset` is negative or not less than the size.
  /// - Throws: ``AssetError`` if the file can't be read.
  public func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    guard count > 0, offset >= 0, offset < record.size else { return [] }
    let count = min(count, record.size - offset)
    switch source {
    case .file(let file): return try file.read(count, at: offset)
    case .bytes(let bytes) where count == bytes.count: return bytes
    case .bytes(let bytes): return bytes[offset..<offset + count].map(\.self)
    }
  }

  /// Reads a part of the content, without verifying the digest. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - count: The number of bytes to read.
  ///   - offset: The offset of the first byte.
  /// - Returns: The bytes. There are fewer than `count` only at the end of the content, and none if
  ///   `count` isn't positive, or if `offset` is negative or not less than the size.
  /// - Throws: ``AssetError`` if the file can't be read; `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func read(_ count: Int, at offset: Int) async throws -> [UInt8] {
    try await worker.run { try read(count, at: offset) }
  }

  /// Reads the whole content into memory and verifies its digest. Blocks the thread.
  ///
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError/damagedFile(_:path:)`` if the file has other content;
  ///   ``AssetError/damagedRow(id:)`` if content in the row differs from its digest; other
  ///   ``AssetError`` cases if the file can't be read.
  public func readAll() throws(AssetError) -> [UInt8] {
    let bytes = try read(record.size, at: 0)
    guard bytes.count == record.size, SHA256.digest(of: bytes) == record.sha256 else {
      throw damage
    }
    return bytes
  }

  /// Reads the whole content into memory and verifies its digest. Suspends the task meanwhile.
  ///
  /// - Returns: The bytes of the content.
  /// - Throws: ``AssetError/damagedFile(_:path:)`` if the file has other content;
  ///   ``AssetError/damagedRow(id:)`` if content in the row differs from its digest; other
  ///   ``AssetError`` cases if the file can't be read; `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func readAll() async throws -> [UInt8] {
    try await worker.run { try readAll() }
  }

  /// Reads the content in pieces, in order, and verifies the digest after the last one. Blocks the
  /// thread.
  ///
  /// The content is known to be intact only when this method has returned.
  ///
  /// - Parameters:
  ///   - size: The maximum size of a piece in bytes, at least 1.
  ///   - body: A closure that receives each piece. If it throws, reading ends.
  /// - Throws: ``AssetError/damagedFile(_:path:)`` or ``AssetError/damagedRow(id:)`` if the content
  ///   is damaged, possibly after the last piece; other ``AssetError`` cases if the file can't be
  ///   read; any error of `body`.
  public func forEachPiece(
    of size: Int = 256 << 10, _ body: ([UInt8]) throws -> Void
  ) throws {
    var pieces = PieceReader(self, size: size)
    while let piece = try pieces.next() { try body(piece) }
  }

  /// Returns the content as a stream of pieces, in constant memory.
  ///
  ///     for try await piece in try await assets.open(id).pieces() { … }
  ///
  /// The digest is verified after the last piece. Until then, the content may be damaged. Files are
  /// read on threads of the store. The stream throws ``AssetError``, for example
  /// ``AssetError/damagedFile(_:path:)`` after the last piece, or `CancellationError`.
  ///
  /// - Parameter size: The maximum size of a piece in bytes, at least 1.
  /// - Returns: The stream of pieces.
  public func pieces(
    of size: Int = 256 << 10
  ) -> some AsyncSequence<[UInt8], any Error> & Sendable {
    AssetPieces(reader: self, size: size)
  }

  /// The error for content that doesn't match the row.
  var damage: AssetError {
    switch source {
    case .file(let file): .damagedFile(record.id, path: file.path)
    case .bytes: .damagedRow(id: record.id.description)
    }
  }
}

/// A reader that returns content in pieces and verifies its digest at the end.
struct PieceReader: Sendable {
  private let reader: AssetReader
  private let size: Int
  private var offset = 0
  private var hash = SHA256()

  init(_ reader: AssetReader, size: Int) {
    self.reader = reader
    self.size = max(1, size)
  }

  /// Returns the next piece, or nil at the end of intact content. Throws the error of
  /// ``AssetReader/damage`` if the content is damaged.
  mutating func next() throws(AssetError) -> [UInt8]? {
    guard offset < reader.record.size else {
      guard hash.finalize() == reader.record.sha256 else { throw reader.damage }
      return nil
    }
    let piece = try reader.read(size, at: offset)
    guard !piece.isEmpty else { throw reader.damage }
    hash.update(piece)
    offset += piece.count
    return piece
  }
}

/// A stream of the pieces of an asset's content.
private struct AssetPieces: AsyncSequence, Sendable {
  let reader: AssetReader
  let size: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    let worker: Worker
    var pieces: PieceReader?

    nonisolated(nonsending) mutating func next() async throws -> [UInt8]? {
      guard let before = pieces else { return nil }
      // The stream ends after an error as well.
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

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(worker: reader.worker, pieces: PieceReader(reader, size: size))
  }
}
