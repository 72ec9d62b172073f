import SQLiteAssets
import SQLiteCore

// Convenience calls that open their own access to the database.
extension AssetStore {
  func record(_ id: AssetID) throws -> AssetRecord? {
    try database.read { connection in try record(id, in: connection) }
  }

  func path(of id: AssetID) throws -> String {
    try database.read { connection in try path(of: id, in: connection) }
  }

  func path(of id: AssetID) async throws -> String {
    try await database.read { connection in try self.path(of: id, in: connection) }
  }

  func put(_ staged: StagedAsset) async throws -> AssetRecord {
    try await database.write { connection in try self.put(staged, in: connection) }
  }

  @discardableResult
  func delete(_ id: AssetID) throws -> Bool {
    try database.write { connection in try delete(id, in: connection) }
  }

  @discardableResult
  func delete(_ id: AssetID) async throws -> Bool {
    try await database.write { connection in try self.delete(id, in: connection) }
  }

  @discardableResult
  func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8>, extension fileExtension: String? = nil
  ) throws -> AssetRecord {
    try database.write { connection in
      try replace(id, with: bytes, extension: fileExtension, in: connection)
    }
  }

  @discardableResult
  func replace(
    _ id: AssetID, with bytes: some Sequence<UInt8> & Sendable
  ) async throws -> AssetRecord {
    try await database.write { connection in try self.replace(id, with: bytes, in: connection) }
  }

  func replace(_ id: AssetID, with staged: StagedAsset) async throws -> AssetRecord {
    try await database.write { connection in try self.replace(id, with: staged, in: connection) }
  }
}
