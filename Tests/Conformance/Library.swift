import Foundation
import SQLiteCore
package import Testing

// The conditions of tests that need a feature of SQLite that some libraries lack. `.ci/run` runs
// the tests of three modules with SQLCipher, too.
extension Trait where Self == ConditionTrait {
  /// Skips the test if SQLite has no preupdate hook.
  package static var needsPreupdateHook: Self {
    .enabled(if: Capabilities.hasPreupdateHook, "this SQLite has no preupdate hook")
  }

  /// Skips the test if the triggers of an untrusted schema can write to full-text search tables, as
  /// newer versions of SQLite allow.
  package static var needsUntrustedSearch: Self {
    .enabled("triggers of this SQLite trust full-text search tables") {
      var options = Database.Options()
      // Otherwise, the library itself would trust them.
      options.allowedModules = ["fts5"]
      let database = try Database.memory(options: options)
      try await database.executeMultipleChanges(
        """
        CREATE TABLE t (a); CREATE VIRTUAL TABLE f USING fts5(a);
        CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO f VALUES (new.a); END;
        """)
      return (try? await database.executeChange("INSERT INTO t VALUES ('a')")) == nil
    }
  }

  /// Skips the test if SQLite is newer than 3.40, whose query plans the test expects.
  package static var needsOlderPlanner: Self {
    .enabled(
      if: Capabilities.versionNumber < 3_041_000, "the test expects the query plans of SQLite 3.40")
  }

  /// Skips the test if the program `sqlite3` isn't installed, or if the tests run with another
  /// library, which it can't use.
  package static var needsShell: Self {
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")
        && !Capabilities.hasEncryption, "there is no sqlite3 shell for this library")
  }

  /// Skips the test if SQLite can't encrypt.
  package static var needsEncryption: Self {
    .enabled(if: Capabilities.hasEncryption, "this SQLite cannot encrypt")
  }
}
