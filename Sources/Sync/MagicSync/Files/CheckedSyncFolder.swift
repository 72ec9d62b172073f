import Essentials

/// The folder of a ``Sync``, with errors that differ from those of the store.
///
/// Errors of a cancelled task become a `CancellationError`, all others a ``SyncFolderFailure``.
struct CheckedSyncFolder: SyncFolder {
  private let folder: any SyncFolder

  init(_ folder: some SyncFolder) { self.folder = folder }

  func list() async throws -> [String] { try await checking { try await folder.list() } }

  func read(_ name: String) async throws -> Data? {
    try await checking { try await folder.read(name) }
  }

  func create(_ name: String, _ content: Data) async throws -> Bool {
    try await checking { try await folder.create(name, content) }
  }

  func remove(_ name: String) async throws { try await checking { try await folder.remove(name) } }

  private func checking<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    do {
      return try await body()
    } catch {
      try Task.checkCancellation()
      throw SyncFolderFailure(description: "\(error)")
    }
  }
}

/// An error of a ``SyncFolder``. It ends an exchange, but not the ``Sync``.
struct SyncFolderFailure: Error {
  /// The description of the folder's error.
  let description: String

  var problem: SyncProblem { .folder(description: description) }
}
