import Synchronization

/// Writes a content that comes piece by piece, on one thread after the other.
final class StreamWriter: Sendable {
  private let opener: Opener
  private let writer: Mutex<ContentWriter?>

  init(_ store: AssetStore, extension fileExtension: String?) throws(AssetError) {
    opener = store.opener
    let name = try AssetFileName(extension: fileExtension)
    writer = Mutex(
      ContentWriter(name, store.opener, minimumFileSize: store.minimumFileSize))
  }

  /// Removes what was written of a stream that did not come to its end.
  deinit {
    writer.withLock { $0?.abandon() }
  }

  func write(_ bytes: [UInt8]) throws {
    try writer.withLock { try $0?.write(bytes) }
  }

  /// Ends the content, and makes it last.
  func finish() throws -> StagedAsset {
    let content = try writer.withLock { writer throws(AssetError) in
      let content = try writer?.finish(syncing: true)
      writer = nil
      return content
    }
    guard let content else { throw CancellationError() }
    return try StagedAsset(content, opener)
  }
}
