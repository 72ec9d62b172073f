public import Essentials

/// A place through which devices exchange files, such as a folder that a file service copies or a
/// container of an object store.
///
/// ``Sync`` writes each file once, and never changes it. Implementations therefore need neither
/// locks nor versions. Files that others have created may appear late, in any order, incomplete, or
/// never; ``Sync`` verifies each one.
///
/// Names consist of ASCII letters, digits and hyphens, and have at most 128 characters.
public protocol SyncFolder: Sendable {
  /// Returns the names of all files. Names of foreign files may be included; they are ignored.
  ///
  /// - Returns: The names, in any order. A file that was just created may be missing.
  /// - Throws: Any error if the files can't be listed. The exchange reports it and is repeated.
  func list() async throws -> [String]

  /// Returns the content of a file.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: The content, or nil if the file doesn't exist.
  /// - Throws: Any error if the file can't be read. The exchange reports it and is repeated.
  func read(_ name: String) async throws -> Data?

  /// Creates a file. Others must see either the whole file or none, except where a copier
  /// interferes.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - content: The content.
  /// - Returns: False if a file of that name exists, which then stays unchanged.
  /// - Throws: Any error if the file can't be created. The exchange reports it and is repeated.
  func create(_ name: String, _ content: Data) async throws -> Bool

  /// Deletes a file. Does nothing if it doesn't exist.
  ///
  /// - Parameter name: The name of the file.
  /// - Throws: Any error if the file can't be deleted. The exchange reports it and is repeated.
  func remove(_ name: String) async throws
}

extension SyncFolder where Self == DirectorySyncFolder {
  /// Returns a folder in the file system.
  ///
  /// - Parameter path: The path of the folder. It is created if it is missing; its parent folder
  ///   must exist.
  public static func folder(_ path: String) -> DirectorySyncFolder {
    DirectorySyncFolder(path: path)
  }

  /// Returns a folder in the file system.
  ///
  /// - Parameter url: The URL of the folder. It is created if it is missing; its parent folder must
  ///   exist.
  public static func folder(_ url: URL) -> DirectorySyncFolder {
    DirectorySyncFolder(path: url.path)
  }
}
