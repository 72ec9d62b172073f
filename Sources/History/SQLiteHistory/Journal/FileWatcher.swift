import Dispatch
import Platform
import SQLiteCore

/// A watcher that detects writes to a database file and its log by any process, without polling
/// (inotify on Linux, kqueue on Apple platforms).
final class FileWatcher: Sendable {
  // Proof: The initializer stores it before other threads can access this instance. After that it
  // is only cancelled, which Dispatch allows on any thread (dispatch_source_cancel).
  private nonisolated(unsafe) let source: any DispatchSourceProtocol

  /// Creates a watcher of a database file and starts it.
  ///
  /// - Parameters:
  ///   - path: The path of the database file.
  ///   - body: A closure that runs after writes, on a dedicated queue. It must return quickly.
  /// - Throws: `SQLiteError` if the system can't watch the file.
  init(_ path: String, _ body: @escaping @Sendable () -> Void) throws(SQLiteError) {
    let queue = DispatchQueue(label: "MagicData.FileWatcher")
    #if os(Linux)
      let parts = path.split(separator: "/", omittingEmptySubsequences: true)
      let folder = "/" + parts.dropLast().joined(separator: "/")
      let descriptor = unsafe cplatform_watch(folder)
      guard descriptor >= 0 else {
        throw SQLiteError(.cannotOpen, "\(folder): cannot be watched: \(systemMessage(errno))")
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      let name = [UInt8]((parts.last.map(String.init) ?? "").utf8)
      source.setEventHandler {
        if FileWatcher.readEvents(descriptor, concerning: name) { body() }
      }
    #else
      // The log file isn't replaced while any connection has the database open.
      let log = unsafe open(path + "-wal", O_EVTONLY | O_CLOEXEC)
      let descriptor = log >= 0 ? log : unsafe open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw SQLiteError(.cannotOpen, "\(path): cannot be watched: \(systemMessage(errno))")
      }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .delete, .rename],
        queue: queue)
      source.setEventHandler { body() }
    #endif
    source.setCancelHandler { close(descriptor) }
    source.activate()
    unsafe self.source = source
  }

  deinit { unsafe source.cancel() }

  /// Notifies the watchers of all processes after a commit, when its changes have become visible.
  ///
  /// SQLite causes no file event at that time: it writes the log, syncs it, and then notifies other
  /// connections only through shared memory. Therefore this sets the modification time of the log,
  /// which SQLite ignores. Without a log, SQLite deletes the journal file at the commit, which is
  /// an event.
  static func wake(_ path: String) { _ = unsafe utimes(path + "-wal", nil) }

  #if os(Linux)
    /// Reads all pending events and returns whether one of them concerns the database.
    private static func readEvents(_ descriptor: Int32, concerning name: [UInt8]) -> Bool {
      var concerns = false
      let header = MemoryLayout<inotify_event>.size
      while true {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
          unsafe read(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count > 0 else { return concerns }
        var place = 0
        while place + header <= count {
          let event = unsafe bytes.withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
          }
          let end = min(count, place + header + Int(event.len))
          let file = bytes[(place + header)..<end].prefix { $0 != 0 }
          // The shared-memory file isn't in the list because it changes with every read.
          let suffixes = ["", "-wal", "-journal"]
          // The event for a queue overflow has no file name.
          if file.isEmpty || suffixes.contains(where: { file.elementsEqual(name + $0.utf8) }) {
            concerns = true
          }
          place = end
        }
      }
    }
  #endif
}
