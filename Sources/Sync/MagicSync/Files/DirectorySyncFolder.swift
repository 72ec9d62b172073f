public import Essentials
import Platform
import SystemFiles

/// A ``SyncFolder`` in the file system, for example a folder of iCloud Drive, Dropbox or Syncthing,
/// or on a network share.
///
/// A file gets its name only when it is complete and durable.
public struct DirectorySyncFolder: SyncFolder {
  /// The path of the folder.
  public let path: String

  /// Creates a folder in the file system.
  ///
  /// - Parameter path: The path of the folder. It is created when the first file is. Its parent
  ///   folder must exist.
  public init(path: String) { self.path = path }

  /// Returns the names of all files in the folder; an empty array if the folder doesn't exist.
  ///
  /// - Returns: The names.
  /// - Throws: ``SyncFolderError`` if the folder can't be read.
  public func list() async throws -> [String] {
    try await failing("list") { operations in
      guard let folder = try opened(path, O_RDONLY | O_DIRECTORY, operations) else { return [] }
      return try operations.names(in: folder.number)
    }
  }

  /// Returns the content of a file.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: The content, or nil if the file doesn't exist.
  /// - Throws: ``SyncFolderError`` if the file can't be read.
  public func read(_ name: String) async throws -> Data? {
    try await failing(name) { operations in
      guard let file = try opened("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, operations)
      else { return nil }
      var content = Data()
      while true {
        let bytes = try file.read(1 << 20, at: content.count)
        if bytes.isEmpty { return content }
        content.append(contentsOf: bytes)
      }
    }
  }

  /// Creates a file.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - content: The content.
  /// - Returns: False if a file of that name exists, which then stays unchanged.
  /// - Throws: ``SyncFolderError`` if the folder or the file can't be written. No incomplete file
  ///   stays under that name.
  public func create(_ name: String, _ content: Data) async throws -> Bool {
    try await failing(name) { operations in
      do throws(SystemFailure) {
        try operations.makeFolder(path: path)
      } catch {
        guard error.number == EEXIST else { throw error }
      }
      if try opened("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, operations) != nil {
        return false
      }
      let pending = try PendingFile("\(path)/\(name)", operations)
      try pending.makeFile().write(content.bytes)
      do throws(SystemFailure) {
        try pending.publish(replacing: false)
      } catch {
        guard error.number == EEXIST else { throw error }
        return false
      }
      return true
    }
  }

  /// Deletes a file. Does nothing if it doesn't exist.
  ///
  /// - Parameter name: The name of the file.
  /// - Throws: ``SyncFolderError`` if the file can't be deleted.
  public func remove(_ name: String) async throws {
    try await failing(name) { operations in
      guard let folder = try opened(path, O_RDONLY | O_DIRECTORY, operations) else { return }
      do throws(SystemFailure) {
        try operations.remove(name, in: folder.number)
      } catch {
        guard error.number == ENOENT else { throw error }
      }
    }
  }

  private func opened(
    _ path: String, _ flags: Int32, _ operations: SystemFileOperations
  ) throws(SystemFailure) -> Descriptor? {
    do {
      let number = try retrying { () throws(SystemFailure) in
        try operations.open(path: path, flags)
      }
      return Descriptor(number, operations)
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
  }

  /// Runs blocking file system calls on another thread.
  @concurrent
  private func failing<Result: Sendable>(
    _ name: String, _ body: @Sendable (SystemFileOperations) throws -> Result
  ) async throws -> Result {
    do {
      return try body(SystemFileOperations())
    } catch let failure as SystemFailure {
      throw SyncFolderError(
        path: name == "list" ? path : "\(path)/\(name)", call: failure.call, number: failure.number)
    }
  }
}

/// An error of the file system in a ``DirectorySyncFolder``.
public struct SyncFolderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file or folder.
  public let path: String
  /// The name of the C function that failed.
  public let call: String
  /// The error number of the function (`errno`).
  public let number: Int32

  /// A description with the path and the system's message.
  public var description: String {
    "\(path): \(call) failed: \(unsafe String(cString: strerror(number)))"
  }
}
