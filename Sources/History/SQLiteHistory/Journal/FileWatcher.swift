import Dispatch
import Platform
import SQLiteCore

/// Tells of writes into a database file or its log, by whichever process, without asking again and again
/// (inotify on Linux, kqueue on Apple's systems).
final class FileWatcher: Sendable {
  // Proof: it is made by one thread before anybody else knows this value, and then only cancelled, which Dispatch
  // allows on any thread (dispatch_source_cancel).
  private nonisolated(unsafe) let source: any DispatchSourceProtocol

  /// - Parameters:
  ///   - path: The database file.
  ///   - body: Called after writes, on a thread of its own. It must be quick.
  /// - Throws: `SQLiteError` if the system cannot watch.
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
        if FileWatcher.takeEvents(descriptor, concerning: name) { body() }
      }
    #else
      // The log stays the same file as long as the database is open anywhere.
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

  /// Wakes the watchers of all processes: what was committed can be seen now.
  ///
  /// Nothing else does so after a commit: SQLite writes the log, waits for the disk, and then tells other connections by
  /// shared memory alone. So the time of the log is set, which means nothing to SQLite. Without a log, the journal file that
  /// is removed wakes them.
  static func wake(_ path: String) { _ = unsafe utimes(path + "-wal", nil) }

  #if os(Linux)
    /// Reads the events that are there, and returns whether one of them is about the database.
    private static func takeEvents(_ descriptor: Int32, concerning name: [UInt8]) -> Bool {
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
          // The shared memory of the log changes with each read.
          let suffixes = ["", "-wal", "-journal"]
          // An overflow of the queue names no file.
          if file.isEmpty || suffixes.contains(where: { file.elementsEqual(name + $0.utf8) }) {
            concerns = true
          }
          place = end
        }
      }
    }
  #endif
}
