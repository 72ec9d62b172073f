/// The content of an asset, open for reading.
///
/// It stays readable to its end whatever becomes of the asset meanwhile.
public struct AssetReader: Sendable {
  /// What the row says of the content.
  public let record: AssetRecord
  private let file: File

  init(_ record: AssetRecord, _ file: File) throws(AssetError) {
    self.record = record
    self.file = file
    guard try file.status().size == record.size else { throw damage }
  }

  /// Where the file was when it was opened. It may have been moved within the store since.
  public var path: String { file.path }

  /// Reads a part of the content, without comparing it with the digest.
  ///
  /// - Parameters:
  ///   - count: How many bytes to read. Fewer are read only at the end.
  ///   - offset: Where they begin.
  /// - Returns: The bytes.
  /// - Throws: ``AssetError``.
  public func read(_ count: Int, at offset: Int) throws(AssetError) -> [UInt8] {
    guard count > 0, offset >= 0, offset < record.size else { return [] }
    return try file.read(min(count, record.size - offset), at: offset)
  }

  /// Reads the whole content and compares it with the digest.
  ///
  /// - Returns: The bytes.
  /// - Throws: ``AssetError/damagedFile(_:path:)``.
  public func readAll() throws(AssetError) -> [UInt8] {
    let bytes = try read(record.size, at: 0)
    guard bytes.count == record.size, SHA256.digest(of: bytes) == record.sha256 else {
      throw damage
    }
    return bytes
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
    var hash = SHA256()
    var offset = 0
    while offset < record.size {
      let piece = try read(max(1, size), at: offset)
      guard !piece.isEmpty else { throw damage }
      hash.update(piece)
      offset += piece.count
      try body(piece)
    }
    guard hash.finalize() == record.sha256 else { throw damage }
  }

  private var damage: AssetError { .damagedFile(record.id, path: file.path) }
}
