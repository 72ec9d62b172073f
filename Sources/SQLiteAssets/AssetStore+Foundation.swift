public import SQLiteCore

public import Essentials

extension AssetStore {
  /// Reads the content of an asset and compares it with its digest.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The bytes.
  /// - Throws: As ``content(of:)``.
  public func data(for id: AssetID) throws -> Data {
    Data(try content(of: id))
  }

  /// As the blocking ``data(for:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The bytes.
  /// - Throws: As ``content(of:)``, or `CancellationError`.
  nonisolated(nonsending) public func data(for id: AssetID) async throws -> Data {
    Data(try await content(of: id))
  }

  /// Reads the content of an asset and compares it with its digest.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The bytes.
  /// - Throws: As ``content(of:in:)``.
  public func data(for id: AssetID, in connection: Connection) throws -> Data {
    Data(try content(of: id, in: connection))
  }

  /// Returns the place at which the content of an asset is now.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The URL of a file that must not be written to.
  /// - Throws: As ``path(of:)``.
  public func url(for id: AssetID) throws -> URL {
    URL(filePath: try path(of: id), directoryHint: .notDirectory)
  }

  /// As the blocking ``url(for:)``, suspending the task.
  ///
  /// - Parameter id: The asset.
  /// - Returns: The URL of a file that must not be written to.
  /// - Throws: As ``path(of:)``, or `CancellationError`.
  nonisolated(nonsending) public func url(for id: AssetID) async throws -> URL {
    URL(filePath: try await path(of: id), directoryHint: .notDirectory)
  }

  /// Returns the place at which the content of an asset is now.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - connection: A connection inside `read` or `write`.
  /// - Returns: The URL of a file that must not be written to.
  /// - Throws: As ``path(of:in:)``.
  public func url(for id: AssetID, in connection: Connection) throws -> URL {
    URL(filePath: try path(of: id, in: connection), directoryHint: .notDirectory)
  }
}
