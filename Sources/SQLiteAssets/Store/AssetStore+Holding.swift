package import SQLiteCore
import SystemFiles

/// A holder of asset files, such as an undo step that may restore deleted asset rows. The files of
/// these rows aren't removed until the holder releases them.
package struct AssetHolder: Sendable {
  /// The name of the pending folder whose removal ends the holds; empty for holds that persist.
  let session: String
  let number: Int64

  /// Creates a holder with a number that is unique in its session.
  ///
  /// - Parameters:
  ///   - session: ``AssetStore/holdingSession()``, or nil for holds that persist when the process
  ///     ends.
  ///   - number: A number that identifies the holder within the session.
  package init(session: String?, number: Int64) {
    self.session = session ?? ""
    self.number = number
  }
}

// Holds are rows. The transaction that deletes asset rows also inserts the holds, so that a crash
// can't separate the two. A held file isn't removed even if it is marked. When its last hold ends,
// it is marked again.
extension AssetStore {
  /// Returns the session for holds that end with the process: the name of the store's pending
  /// folder, which is created if it is missing. After the process has ended, the next opening of
  /// the store releases these holds.
  package func holdingSession() throws(AssetError) -> String { try pendingFolder.session() }

  /// Inserts holds for files, as part of the open transaction. The files are not removed until the
  /// holder releases them.
  ///
  /// - Parameters:
  ///   - files: The file names, as in the asset rows.
  ///   - holder: The holder that needs the files.
  ///   - connection: The writer connection.
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

  /// Ends all holds of a holder, as part of the open transaction. Files that no row and no other
  /// holder needs are removed after the commit.
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

  /// Marks files for removal after their rows were deleted without running triggers. Skips files
  /// that a row references or a holder holds, and invalid names.
  package func markUnreferenced(_ files: Set<String>, in connection: Connection) throws {
    let files = files.filter { AssetFileName($0) != nil }
    guard !files.isEmpty else { return }
    try mark(files.sorted().map { .text($0) }, in: connection)
  }

  /// Marks files for removal, as part of the open transaction. Skips files that a row references or
  /// a holder holds.
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

  /// Ends the holds of sessions whose pending folder no longer exists, in a new transaction.
  func releaseAbandonedHolds() throws {
    let held = try database.read { connection -> [String] in
      guard try AssetSchema.hasHolds(connection) else { return [] }
      return try connection.rows(
        "SELECT DISTINCT session FROM main.magicdata_asset_held WHERE session <> ''",
        as: String.self)
    }
    guard !held.isEmpty else { return }
    // The folder of an opener is created before its first hold, and removed after its last one.
    let present = Set(try folder.pendingNames())
    let gone = held.filter { !present.contains($0) }
    guard !gone.isEmpty else { return }
    try database.write { connection in
      try release("session IN \(gone)", in: connection)
    }
  }
}

extension AssetSchema {
  /// Returns whether the table of holds exists. Without it, no file is held.
  static func hasHolds(_ connection: Connection) throws -> Bool {
    try connection.tableExists("magicdata_asset_held")
  }

  /// Returns an SQL condition that is true if a holder needs a file.
  ///
  /// - Parameters:
  ///   - file: The SQL for the name of the file.
  ///   - connection: The connection on which the condition is evaluated.
  static func isHeld(_ file: SQL, _ connection: Connection) throws -> SQL {
    try hasHolds(connection) ? "\(file) IN (SELECT file FROM main.magicdata_asset_held)" : "0"
  }
}
