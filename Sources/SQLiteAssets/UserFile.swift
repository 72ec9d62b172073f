/// A file of the user's, outside any store, open for reading.
package struct UserFile: Sendable {
  private let file: File

  /// Opens a regular file, through links if need be.
  package init(path: String) throws(AssetError) {
    file = try File.open(path: path, SystemFileOperations())
  }

  /// The number of bytes.
  package var size: Int {
    get throws(AssetError) { try file.status().size }
  }

  /// Reads all bytes.
  package func readAll() throws(AssetError) -> [UInt8] {
    try file.read(size, at: 0)
  }

  /// Opens and reads a regular file, suspending the task.
  package nonisolated(nonsending) static func contents(of path: String) async throws -> [UInt8] {
    try await Worker().run { try UserFile(path: path).readAll() }
  }

  /// The SHA-256 of the bytes, taken in constant memory.
  package func sha256() throws(AssetError) -> SHA256.Digest {
    var hash = SHA256()
    var offset = 0
    while true {
      let piece = try file.read(ContentWriter.pieceSize, at: offset)
      guard !piece.isEmpty else { return hash.finalize() }
      hash.update(piece)
      offset += piece.count
    }
  }
}
