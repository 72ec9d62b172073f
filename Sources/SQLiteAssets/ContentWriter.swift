/// Writes a content into a new file, and takes its size and digest on the way.
struct ContentWriter: ~Copyable {
  private let file: File
  private let operations: any FileOperations
  private var size = 0
  private var hash = SHA256()

  /// How much is held in memory when a file is copied.
  static let pieceSize = 256 << 10

  init(_ file: File, _ operations: any FileOperations) {
    self.file = file
    self.operations = operations
  }

  mutating func write(_ bytes: some Sequence<UInt8>) throws {
    let isDone: Void? = try bytes.withContiguousStorageIfAvailable { bytes in
      try write(unsafe bytes.span.bytes)
    }
    if isDone == nil { try write(unsafe Array(bytes).span.bytes) }
  }

  mutating func write(contentsOf path: String) throws {
    let source = try File.open(path: path, operations)
    while true {
      let piece = try source.read(ContentWriter.pieceSize, at: size)
      try write(piece)
      if piece.count < ContentWriter.pieceSize { return }
    }
  }

  private mutating func write(_ bytes: RawSpan) throws(AssetError) {
    try file.write(bytes)
    hash.update(bytes)
    size += bytes.byteCount
  }

  consuming func finish(_ name: AssetFileName) -> Content {
    Content(file: name, size: size, sha256: hash.finalize())
  }

  /// Makes the content last now, so that the transaction has not to wait for it.
  func sync() throws(AssetError) {
    try file.sync()
  }
}

extension AssetStore {
  /// Writes a content that no row names yet. It is removed if that fails.
  ///
  /// - Parameter isLarge: Whether to sync it now, outside the transaction, instead of with the others.
  func stage(
    extension fileExtension: String?, syncing isLarge: Bool = false,
    _ write: (inout ContentWriter) throws -> Void
  ) throws -> Content {
    let name = try AssetFileName(extension: fileExtension)
    var writer = ContentWriter(try opener.makeFile(name), operations)
    do {
      try write(&writer)
      if isLarge { try writer.sync() }
    } catch {
      opener.abandon(name)
      throw error
    }
    return writer.finish(name)
  }
}
