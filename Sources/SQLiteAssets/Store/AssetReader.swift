import SQLiteCore
import SystemFiles

/// The content of an asset, open for reading.
///
/// It stays readable to its end whatever becomes of the asset meanwhile.
public struct AssetReader: Sendable {
  private enum Source: Sendable {
    case file(File)
    case bytes([UInt8])
  }

  /// The asset's row.
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

  /// Where the file was when it was opened, or nil for a content in the row. It may have been moved
  /// within the store since.
  public var path: String? { file?.path }

  /// The file, if there is one.
  var file: File? {
    if case .file(let file) = source { file } else { nil }
  }

  /// Reads a part of the content, without comparing it with the digest.
  ///
  /// - Parameters:
  ///   - count: How many bytes to read. Fewer are read only at the end.
  ///   - offset: Where they begin.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``.
  public func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    guard count > 0, offset >= 0, offset < record.size else { return [] }
    let count = min(count, record.size - offset)
    switch source {
    case .file(let file): return try file.read(count, at: offset)
    case .bytes(let bytes) where count == bytes.count: return bytes
    case .bytes(let bytes): return bytes[offset..<offset + count].map(\.self)
    }
  }

  /// As ``read(_:at:)``, without blocking the task.
  nonisolated(nonsending) public func read(_ count: Int, at offset: Int) async throws -> [UInt8] {
    try await worker.run { try read(count, at: offset) }
  }

  /// Reads the whole content and compares it with the digest.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``AssetError/damagedFile(_:path:)``; ``AssetError/damagedRow(id:)`` for a content in
  ///   the row.
  public func readAll() throws(AssetError) -> [UInt8] {
    let bytes = try read(record.size, at: 0)
    guard bytes.count == record.size, SHA256.digest(of: bytes) == record.sha256 else {
      throw damage
    }
    return bytes
  }

  /// As ``readAll()``, without blocking the task.
  nonisolated(nonsending) public func readAll() async throws -> [UInt8] {
    try await worker.run { try readAll() }
  }

  /// Reads the whole content piece by piece, and at the end compares it with the digest.
  ///
  /// - Parameters:
  ///   - size: The most bytes of one piece, at least 1.
  ///   - body: Takes the pieces in order. What it throws ends the reading.
  /// - Throws: ``AssetError/damagedFile(_:path:)``, also after the last piece, or what `body` throws.
  public func forEachPiece(
    of size: Int = 256 << 10, _ body: ([UInt8]) throws -> Void
  ) throws {
    var pieces = PieceReader(self, size: size)
    while let piece = try pieces.next() { try body(piece) }
  }

  /// Returns the whole content as a stream of pieces, in constant memory.
  ///
  ///     for try await piece in try await assets.open(id).pieces() { … }
  ///
  /// After the last piece the digest is compared: only then is the content known to be intact. Files are read on
  /// threads of the store's own. The stream throws ``AssetError/damagedFile(_:path:)``, also after the last piece, or
  /// `CancellationError`.
  ///
  /// - Parameter size: The most bytes of one piece, at least 1.
  /// - Returns: The stream.
  public func pieces(
    of size: Int = 256 << 10
  ) -> some AsyncSequence<[UInt8], any Error> & Sendable {
    AssetPieces(reader: self, size: size)
  }

  /// The error for a content that is not what the row says.
  var damage: AssetError {
    switch source {
    case .file(let file): .damagedFile(record.id, path: file.path)
    case .bytes: .damagedRow(id: record.id.description)
    }
  }
}

/// Reads a content piece by piece, and at the end compares it with the digest.
struct PieceReader: Sendable {
  private let reader: AssetReader
  private let size: Int
  private var offset = 0
  private var hash = SHA256()

  init(_ reader: AssetReader, size: Int) {
    self.reader = reader
    self.size = max(1, size)
  }

  /// The next piece; nil at the end of an intact content.
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

/// The content of an asset as a stream of pieces.
private struct AssetPieces: AsyncSequence, Sendable {
  let reader: AssetReader
  let size: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    let worker: Worker
    var pieces: PieceReader?

    nonisolated(nonsending) mutating func next() async throws -> [UInt8]? {
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

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(worker: reader.worker, pieces: PieceReader(reader, size: size))
  }
}
