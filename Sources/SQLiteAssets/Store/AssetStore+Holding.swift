package import SQLiteCore
import SystemFiles

/// Somebody who may bring rows of assets back that were deleted, and needs their files until then: one step of a
/// history.
package struct AssetHolder: Sendable {
  /// The name of a process's opening of the store, whose holds end with it; empty for holds that outlive it.
  let session: String
  let number: Int64

  /// - Parameters:
  ///   - session: ``AssetStore/holdingSession()``, or nil for holds that outlive the process.
  ///   - number: The number of the holder among those of the session.
  package init(session: String?, number: Int64) {
    self.session = session ?? ""
    self.number = number
  }
}

// Files are held by rows, written by the transaction that deletes the rows of the assets: so no crash comes
// between. A file that is held is not removed, whatever marks it has; when nobody holds it any more, it gets
// the mark that it had lost.
extension AssetStore {
  /// The name of this opening of the store, for holds that end with the process: the next opening releases them.
  package func holdingSession() throws(AssetError) -> String { try opener.session() }

  /// Keeps files for a holder, as part of the open transaction.
  ///
  /// - Parameters:
  ///   - files: The names of the files, as rows of assets name them.
  ///   - holder: The holder.
  ///   - connection: The connection that writes.
  package func hold(
    _ files: Set<String>, for holder: AssetHolder, in connection: Connection
  ) throws {
    guard !files.isEmpty else { return }
    if try !AssetSchema.hasHolds(connection) {
      try connection.executeChange(
        """
        CREATE TABLE main.magicdata_asset_held (
          file TEXT NOT NULL, session TEXT NOT NULL, number INTEGER NOT NULL,
          PRIMARY KEY (file, session, number)) WITHOUT ROWID
        """)
    }
    for file in files.sorted() {
      try connection.executeChange(
        """
        INSERT INTO main.magicdata_asset_held (file, session, number)
        VALUES (\(file), \(holder.session), \(holder.number)) ON CONFLICT DO NOTHING
        """)
    }
  }

  /// Ends the holds of a holder, as part of the open transaction. The files that nobody needs are removed after
  /// the commit.
  package func release(_ holder: AssetHolder, in connection: Connection) throws {
    try release("session = \(holder.session) AND number = \(holder.number)", in: connection)
  }

  private func release(_ condition: SQL, in connection: Connection) throws {
    guard try AssetSchema.hasHolds(connection) else { return }
    let files = try connection.rows(
      "SELECT DISTINCT file FROM main.magicdata_asset_held WHERE \(condition)", as: Value.self)
    guard !files.isEmpty else { return }
    try connection.executeChange("DELETE FROM main.magicdata_asset_held WHERE \(condition)")
    try mark(files, in: connection)
  }

  /// ``mark(_:in:)`` for files whose rows were deleted without the triggers that do this. Other names are passed over.
  package func releaseUnnamed(_ files: Set<String>, in connection: Connection) throws {
    let files = files.filter { AssetFileName($0) != nil }
    guard !files.isEmpty else { return }
    try mark(files.sorted().map { .text($0) }, in: connection)
  }

  /// Marks files for removal, as part of the open transaction, unless rows name them or somebody holds them.
  func mark(_ files: [Value], in connection: Connection) throws {
    try connection.executeChange(
      """
      INSERT INTO main.magicdata_asset_trash (file)
      SELECT value FROM \(files)
      WHERE value NOT IN (SELECT file FROM main.magicdata_asset) AND NOT \(AssetSchema.isHeld("value", connection))
      ON CONFLICT DO NOTHING
      """)
    scheduleUpkeep(in: connection)
  }

  /// Ends the holds of openings that are over, by a transaction of its own.
  func releaseAbandoned() throws {
    let held = try database.read { connection -> [String] in
      guard try AssetSchema.hasHolds(connection) else { return [] }
      return try connection.rows(
        "SELECT DISTINCT session FROM main.magicdata_asset_held WHERE session <> ''",
        as: String.self)
    }
    guard !held.isEmpty else { return }
    // The folder of an opening is there before its first hold, and goes after it.
    let present = Set(try folder.pendingNames())
    let gone = held.filter { !present.contains($0) }
    guard !gone.isEmpty else { return }
    try database.write { connection in
      try release("session IN \(gone)", in: connection)
    }
  }
}

extension AssetSchema {
  /// Whether anybody has ever held a file.
  static func hasHolds(_ connection: Connection) throws -> Bool {
    try connection.tableExists("magicdata_asset_held")
  }

  /// A condition that is true if anybody holds a file.
  ///
  /// - Parameter file: The name of the file.
  static func isHeld(_ file: SQL, _ connection: Connection) throws -> SQL {
    try hasHolds(connection) ? "\(file) IN (SELECT file FROM main.magicdata_asset_held)" : "0"
  }
}
