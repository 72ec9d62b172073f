import Essentials
import SQLiteCore
import SQLiteHistory

/// Fuzzes changesets, as any program may have made them: they are rejected, or applied completely
/// and can be undone.
package enum PatchBytes {
  private static let schema: SQL = """
    CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT, size REAL CHECK (size < 1000), seal BLOB UNIQUE);
    CREATE TABLE pair (a TEXT, b INTEGER, note, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TABLE word (name TEXT PRIMARY KEY, n INTEGER DEFAULT 5, w AS (n + 1));
    CREATE TABLE house (id INTEGER PRIMARY KEY, town REFERENCES town ON DELETE CASCADE);
    CREATE TABLE loose (a, b);
    CREATE TRIGGER g AFTER UPDATE ON town BEGIN INSERT OR REPLACE INTO word VALUES (new.name, 1); END;
    INSERT INTO town VALUES (1, 'a', 1.5, x'00'), (2, 'b', NULL, NULL), (3, '', 3, x'0102');
    INSERT INTO pair VALUES ('a', 1, NULL), ('b', 2, 'text');
    INSERT INTO word (name, n) VALUES ('w1', 1), ('w2', 2);
    INSERT INTO house VALUES (1, 1), (2, 1), (3, NULL);
    INSERT INTO loose VALUES (1, 'x'), (2, NULL);
    """

  /// Returns a description of a fault, or nil.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    // Entries of a journal also come from files.
    if let rows = try? RecordedRows(archive: bytes), let patch = try? Patch(rows) {
      _ = try? Patch(data: patch.data)
    }
    guard let patch = try? Patch(data: Data(bytes)) else { return nil }
    guard try Patch(data: patch.data) == patch else { return "the bytes read back differ" }
    let inverted = patch.inverted
    guard inverted.inverted == patch else { return "the inverse of the inverse differs" }
    guard try Patch(data: inverted.data) == inverted else { return "the inverse cannot be read" }
    _ = try? patch.combined(with: patch)
    _ = try? patch.combined(with: inverted)
    let database = try Database.memory()
    try database.executeMultipleChanges(schema)
    let before = try content(database)
    for choice in 0..<3 {
      if let problem = try apply(patch, on: database, choice, before) { return problem }
      guard try content(database) == before else { return "the rollback is incomplete" }
    }
    return nil
  }

  private struct Undo: Error {}

  /// Applies a patch and its inverse, and rolls everything back.
  private static func apply(
    _ patch: Patch, on database: Database, _ choice: Int, _ before: [String]
  ) throws -> String? {
    var problem: String?
    do {
      try database.write { connection in
        let (report, made) = try connection.recordingPatch {
          try connection.apply(patch, isIdempotent: choice == 1) { answer($0, choice) }
        }
        _ = try? patch.rebased(onto: report)
        _ = try? patch.inverted.rebased(onto: report)
        // The changes that were really made can be undone completely.
        try connection.applyExactly(made.inverted)
        if try content(database) != before { problem = "the changes are not undone" }
        throw Undo()
      }
    } catch is Undo {
    } catch let error as PatchError {
      _ = error.description
    } catch let error as SQLiteError {
      _ = error.description
    }
    return problem
  }

  private static func answer(_ conflict: PatchConflict, _ choice: Int) -> PatchResolution {
    _ = conflict.description
    switch (choice, conflict.kind, conflict.row.kind) {
    case (0, .data, .update): return .merge
    case (2, .data, .update): return .set([conflict.columns.last ?? "": .integer(7)])
    case (1, .data, _), (1, .conflict, _): return .replace
    default: return .omit
    }
  }

  private static func content(_ database: Database) throws -> [String] {
    try database.read { connection in
      try ["town", "pair", "word", "house", "loose"].flatMap { table in
        // A deleted row that was inserted again may have another rowid if that isn't the key.
        try connection.executeQuery("SELECT * FROM \(identifier: table)").map { "\($0.values)" }
          .sorted()
      }
    }
  }
}
