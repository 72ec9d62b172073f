import SystemFiles

/// A writer that stores content in memory or in a pending file, and computes its size and digest.
///
/// The content stays in memory until its size reaches `minimumFileSize`. Then the writer creates a
/// file.
struct ContentWriter: ~Copyable {
  private let name: AssetFileName
  private let pendingFolder: PendingFolder
  /// The size in bytes from which content is stored in a file.
  private let minimumFileSize: Int
  private var start: [UInt8] = []
  private var file: File?
  private var size = 0
  private var hash = SHA256()

  init(_ name: AssetFileName, _ pendingFolder: PendingFolder, minimumFileSize: Int) {
    self.name = name
    self.pendingFolder = pendingFolder
    self.minimumFileSize = minimumFileSize
  }

  mutating func write(_ bytes: some Sequence<UInt8>) throws {
    let isDone: Void? = try bytes.withContiguousStorageIfAvailable { bytes in
      try write(unsafe bytes.span.bytes)
    }
    if isDone == nil { try write(unsafe Array(bytes).span.bytes) }
  }

  /// Writes the content of another file. Creates a copy-on-write clone if nothing was written
  /// before, the size is at least `minimumFileSize`, and the file system supports clones.
  mutating func write(contentsOf source: File) throws {
    let length = try source.status().size
    if size == 0, length > 0, length >= minimumFileSize, pendingFolder.clone(source, as: name) {
      // The digest requires reading all bytes, but none has to be written.
      let copy = try pendingFolder.file(name)
      file = copy
      try copy.forEachPiece { piece throws(AssetError) in
        hash.update(piece)
        size += piece.count
      }
    } else {
      try source.forEachPiece { piece throws(AssetError) in try write(unsafe piece.span.bytes) }
    }
  }

  private mutating func write(_ bytes: RawSpan) throws(AssetError) {
    size += bytes.byteCount
    if file == nil, size < minimumFileSize {
      unsafe bytes.withUnsafeBytes { unsafe start.append(contentsOf: $0) }
    } else {
      let file = try fileToWrite()
      try file.write(bytes)
      // The disk writes while the digest is computed.
      if bytes.byteCount >= File.pieceSize, pendingFolder.isDurable { file.beginSync() }
    }
    hash.update(bytes)
  }

  /// Returns the file that content is written to. The first call creates it with the content
  /// written so far.
  private mutating func fileToWrite() throws(AssetError) -> File {
    if let file { return file }
    let made = try pendingFolder.makeFile(name)
    file = made
    try made.write(unsafe start.span.bytes)
    start = []
    return made
  }

  /// Ends the writing and returns the content with its size and digest.
  ///
  /// - Parameter syncs: Whether to make the file durable now, so that the transaction doesn't have
  ///   to wait for it.
  mutating func finish(syncing syncs: Bool) throws(AssetError) -> Content {
    let syncs = syncs && pendingFolder.isDurable
    if size >= minimumFileSize {
      let file = try fileToWrite()
      if syncs { try file.sync() }
    }
    return Content(
      file: name, size: size, sha256: hash.finalize(), bytes: file == nil ? start : nil,
      isSynced: syncs)
  }

  /// Removes the file with the incomplete content, if the writer has created one.
  func abandon() {
    pendingFolder.abandon(name)
  }
}
