import CSQLite
import Foundation
import SQLiteCore
import SQLiteHistory
import Testing

/// Tests the resolutions of patch conflicts and their effects on the row.
@Suite struct ResolutionTests {
  private static let schema: SQL = """
    CREATE TABLE town (
      id INTEGER PRIMARY KEY, name TEXT, size INTEGER CHECK (size < 1000), code TEXT UNIQUE);
    CREATE TABLE house (
      id INTEGER PRIMARY KEY, town INTEGER REFERENCES town ON DELETE RESTRICT, plan TEXT);
    INSERT INTO town VALUES (1, 'a', 1, 'A'), (2, 'b', 2, 'B');
    """

  private func database() throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(Self.schema)
    return database
  }

  private func patch(_ sql: SQL) throws -> Patch {
    try database().patch { try $0.executeMultipleChanges(sql) }
  }

  private func towns(_ database: Database) throws -> [String] {
    try database.rows(
      "SELECT id || ' ' || name || ' ' || size FROM town ORDER BY id", as: String.self)
  }

  /// A conflict: the changes of the patch, those of the database, and the rows after each
  /// resolution, or nil for an error.
  private struct Case: Sendable, CustomTestStringConvertible {
    let title: String
    let kind: PatchConflict.Kind
    let columns: [String]
    let patch: SQL
    let here: SQL
    let omit: [String]
    let replace: [String]?
    let merge: [String]?
    let set: [String]?
    var testDescription: String { title }
  }

  private static let cases = [
    Case(
      title: "an update of a row with other values", kind: .data, columns: ["name"],
      patch: "UPDATE town SET name = 'theirs', size = 20 WHERE id = 1",
      here: "UPDATE town SET name = 'ours', code = 'X' WHERE id = 1",
      omit: ["1 ours 1", "2 b 2"], replace: ["1 theirs 20", "2 b 2"],
      merge: ["1 ours 20", "2 b 2"], set: ["1 given 20", "2 b 2"]),
    Case(
      title: "a delete of a row with other values", kind: .data, columns: ["size"],
      patch: "DELETE FROM town WHERE id = 1", here: "UPDATE town SET size = 5 WHERE id = 1",
      omit: ["1 a 5", "2 b 2"], replace: ["2 b 2"], merge: nil, set: nil),
    Case(
      title: "an insert of an existing row", kind: .conflict,
      columns: ["name", "size", "code"],
      patch: "INSERT INTO town VALUES (3, 'theirs', 30, 'T')",
      here: "INSERT INTO town VALUES (3, 'ours', 3, 'O')",
      omit: ["1 a 1", "2 b 2", "3 ours 3"], replace: ["1 a 1", "2 b 2", "3 theirs 30"],
      merge: nil, set: nil),
    Case(
      title: "an update of a missing row", kind: .notFound, columns: [],
      patch: "UPDATE town SET name = 'theirs' WHERE id = 1", here: "DELETE FROM town WHERE id = 1",
      omit: ["2 b 2"], replace: nil, merge: nil, set: nil),
    Case(
      title: "a delete of a missing row", kind: .notFound, columns: [],
      patch: "DELETE FROM town WHERE id = 1", here: "DELETE FROM town WHERE id = 1",
      omit: ["2 b 2"], replace: nil, merge: nil, set: nil),
    Case(
      title: "an insert that violates UNIQUE", kind: .constraint, columns: [],
      patch: "INSERT INTO town VALUES (3, 'theirs', 3, 'C')",
      here: "UPDATE town SET code = 'C' WHERE id = 2",
      omit: ["1 a 1", "2 b 2"], replace: nil, merge: nil, set: nil),
    Case(
      title: "a delete that a trigger rejects", kind: .constraint, columns: [],
      patch: "DELETE FROM town WHERE id = 1",
      here: "CREATE TRIGGER g BEFORE DELETE ON town BEGIN SELECT RAISE(ABORT, 'no'); END",
      omit: ["1 a 1", "2 b 2"], replace: nil, merge: nil, set: nil),
  ]

  @Test(arguments: cases) private func `each resolution has its outcome`(_ example: Case) throws {
    let patch = try patch(example.patch)
    let answers: [(PatchResolution?, [String]?)] = [
      (.omit, example.omit), (.replace, example.replace), (.merge, example.merge),
      (.set(["name": .text("given")]), example.set), (.abort, nil), (nil, nil),
    ]
    for (answer, expected) in answers {
      let database = try database()
      try database.executeChange(example.here)
      let before = try towns(database)
      var reported: [PatchConflict] = []
      do {
        let report =
          if let answer {
            try database.apply(patch) { conflict in
              reported.append(conflict)
              return answer
            }
          } else { try database.apply(patch) }
        #expect(try towns(database) == expected, "\(String(describing: answer))")
        #expect(report.resolved.map(\.resolution) == [answer])
        #expect(report.resolved.map(\.conflict) == reported)
        #expect(report.appliedCount == (answer == .omit ? 0 : 1))
      } catch {
        #expect(expected == nil, "\(String(describing: answer)): \(error)")
        #expect(try towns(database) == before)
        if answer == nil || answer == .abort {
          reported = (error as? PatchError)?.conflicts ?? []
        } else {
          let error = try #require(error as? SQLiteError)
          #expect(error.code == .misuse && error.message.contains("cannot resolve this conflict"))
        }
      }
      let conflict = try #require(reported.first)
      #expect(reported.count == 1)
      #expect(conflict.kind == example.kind && conflict.table == "town")
      #expect(conflict.conflictingColumns == example.columns)
      #expect(conflict.columns == ["id", "name", "size", "code"])
    }
  }

  @Test(arguments: cases)
  private func `omit and replace have the same results as in the session extension`(
    _ example: Case
  ) throws {
    let patch = try patch(example.patch)
    for answer in [PatchResolution.omit, .replace] where answer == .omit || example.replace != nil {
      let database = try database()
      let session = try SessionDatabase()
      try session.execute(Self.schema.text)
      try database.executeChange(example.here)
      try session.execute(example.here.text)
      let report = try database.apply(patch) { _ in answer }
      try session.apply(
        patch.data, answer == .omit ? SQLITE_CHANGESET_OMIT : SQLITE_CHANGESET_REPLACE)
      #expect(try session.dump("town") == database.dump("town"))
      #expect(
        Set(session.conflicts)
          == Set(report.resolved.map { "town [\"\($0.conflict.key[0].text)\"]" }))
    }
  }

  @Test func `the columns of a row are merged individually`() throws {
    let database = try database()
    let patch = try patch("UPDATE town SET name = 'theirs', size = 20, code = 'T' WHERE id = 1")
    try database.executeChange("UPDATE town SET name = 'ours', code = 'O' WHERE id = 1")
    var reported: PatchConflict?
    try database.apply(patch) { conflict in
      reported = conflict
      return .set(["CODE": .text("both"), "size": .integer(21)])
    }
    #expect(reported?.conflictingColumns == ["name", "code"])
    #expect(reported?.current == [.integer(1), .text("ours"), .integer(1), .text("O")])
    #expect(try towns(database) == ["1 ours 21", "2 b 2"])
    #expect(try database.rows("SELECT code FROM town WHERE id = 1", as: String.self) == ["both"])
  }

  @Test func `setting other columns or the key throws`() throws {
    let patch = try patch("UPDATE town SET name = 'theirs' WHERE id = 1")
    for column in ["nothing", "id"] {
      let database = try database()
      try database.executeChange("UPDATE town SET name = 'ours' WHERE id = 1")
      let error = sqliteError {
        try database.apply(patch) { _ in .set([column: .integer(7)]) }
      }
      #expect(error?.code == .misuse)
      #expect(try towns(database) == ["1 ours 1", "2 b 2"])
    }
  }

  @Test func `a replaced row that violates a constraint becomes a constraint conflict`() throws {
    let database = try database()
    let patch = try patch("UPDATE town SET name = 'theirs', code = 'C' WHERE id = 1")
    try database.executeMultipleChanges(
      "UPDATE town SET name = 'ours' WHERE id = 1; UPDATE town SET code = 'C' WHERE id = 2")
    let report = try database.apply(patch) { $0.kind == .constraint ? .omit : .replace }
    #expect(report.resolved.map(\.conflict.kind) == [.constraint])
    #expect(report.appliedCount == 0)
    #expect(try towns(database) == ["1 ours 1", "2 b 2"])
  }

  @Test func `an error in the closure stops the patch and changes nothing`() throws {
    let database = try database()
    let patch = try patch(
      "INSERT INTO town VALUES (3, 'c', 3, 'C'); UPDATE town SET name = 'theirs' WHERE id = 1")
    try database.executeChange("UPDATE town SET name = 'ours' WHERE id = 1")
    #expect(throws: Stop.self) { try database.apply(patch) { _ in throw Stop() } }
    #expect(try towns(database) == ["1 ours 1", "2 b 2"])
  }

  @Test func `an idempotent patch can be applied again and reports its rows as present`() throws {
    let database = try database()
    let patch = try patch(
      """
      INSERT INTO town VALUES (3, 'c', 3, 'C'); UPDATE town SET name = 'theirs' WHERE id = 1;
      DELETE FROM town WHERE id = 2
      """)
    let first = try database.apply(patch, isIdempotent: true)
    #expect(first.appliedCount == 3 && first.skippedCount == 0)
    let state = try towns(database)
    let second = try database.apply(patch, isIdempotent: true)
    #expect(second.appliedCount == 0 && second.skippedCount == 3 && second.resolved.isEmpty)
    #expect(try towns(database) == state)
    let error = #expect(throws: PatchError.self) { try database.apply(patch) }
    #expect(Set(error?.conflicts.map(\.kind) ?? []) == [.conflict, .data, .notFound])
    // Some rows already have the patch's values.
    let half = try self.database()
    try half.executeChange("UPDATE town SET name = 'theirs' WHERE id = 1")
    let third = try half.apply(patch, isIdempotent: true)
    #expect(third.appliedCount == 2 && third.skippedCount == 1)
    #expect(try towns(half) == state)
    // Other values are still a conflict.
    try half.executeChange("UPDATE town SET name = 'other' WHERE id = 1")
    #expect(throws: PatchError.self) { try half.apply(patch, isIdempotent: true) }
  }

  @Test func `a dangling foreign key at the end throws an error that names it`() throws {
    let database = try database()
    let patch = try patch(
      "INSERT INTO house VALUES (7, 2, 'p'), (8, 1, 'q')")
    try database.executeChange("DELETE FROM town WHERE id = 2")
    for answer in [PatchResolution.omit, .replace] {
      let error = #expect(throws: PatchError.self) { try database.apply(patch) { _ in answer } }
      let conflict = try #require(error?.conflicts.first)
      #expect(error?.conflicts.count == 1)
      #expect(conflict.kind == .foreignKey && conflict.table == "house")
      #expect(conflict.key == [.integer(7)])
      #expect(error?.description.contains("“town”") == true)
      #expect(try database.dump("house").isEmpty)
    }
    // A parent that is still referenced isn't deleted, although its foreign key says RESTRICT.
    try database.executeChange("INSERT INTO house VALUES (9, 1, NULL)")
    let removal = try self.patch("DELETE FROM town WHERE id = 1")
    let restricted = #expect(throws: PatchError.self) { try database.apply(removal) }
    #expect(restricted?.conflicts.map(\.kind) == [.foreignKey])
    #expect(restricted?.conflicts.first?.key == [.integer(9)])
    try database.executeChange("DELETE FROM house")
    // In an enclosing transaction, only the patch is rolled back.
    try database.write { connection in
      try connection.executeChange("INSERT INTO town VALUES (5, 'e', 5, 'E')")
      #expect(throws: PatchError.self) { try connection.apply(patch) }
      #expect(try connection.firstRow("PRAGMA defer_foreign_keys", as: Int.self) == 0)
    }
    #expect(try towns(database) == ["1 a 1", "5 e 5"])
  }

  @Test func `rows can precede those that they reference`() throws {
    let database = try database()
    let made = try patch(
      "INSERT INTO town VALUES (3, 'c', 3, 'C'); INSERT INTO house VALUES (1, 3, NULL)")
    var tables = made.tables
    tables.reverse()
    let report = try database.apply(Patch(tables: tables))
    #expect(report.appliedCount == 2)
    #expect(try database.dump("house").count == 1)
  }

  @Test func `a schema that doesn't match throws an error that names the difference`() throws {
    let patch = try patch(
      "INSERT INTO house VALUES (1, 1, 'p'); INSERT INTO town VALUES (3, 'c', 3, 'C')")
    let nameless = try Patch(data: patch.data)
    let rejected: [(SQL, SQL, String, Bool)] = [
      ("DROP TABLE house", "house", "no such table", true),
      ("ALTER TABLE house RENAME COLUMN plan TO drawing", "house", "no column “plan”", false),
      ("ALTER TABLE house DROP COLUMN plan", "house", "2 columns", true),
      (
        "DROP TABLE house; CREATE TABLE house (id, town, plan TEXT PRIMARY KEY)", "house",
        "it has another primary key: plan", true
      ),
    ]
    for (change, table, reason, isNameless) in rejected {
      let database = try database()
      try database.executeMultipleChanges(change)
      let patches = isNameless ? [patch, nameless] : [patch]
      for (index, patch) in patches.enumerated() {
        let error = #expect(throws: PatchError.self) { try database.apply(patch) { _ in .replace } }
        guard case .schema(table.text, let difference)? = error?.reason else {
          Issue.record("\(String(describing: error))")
          continue
        }
        let named = index == 0 && reason == "2 columns" ? "no column “plan”" : reason
        #expect(difference.contains(named), "\(difference)")
        #expect(try towns(database) == ["1 a 1", "2 b 2"])
      }
    }
    // Additional columns and another column order are allowed.
    let database = try database()
    try database.executeMultipleChanges(
      """
      ALTER TABLE house ADD COLUMN more DEFAULT 5;
      DROP TABLE town; CREATE TABLE town (code TEXT, size, name, id INTEGER PRIMARY KEY);
      INSERT INTO town VALUES ('A', 1, 'a', 1)
      """)
    try database.apply(patch)
    #expect(try towns(database) == ["1 a 1", "3 c 3"])
    #expect(try database.rows("SELECT more FROM house", as: Int.self) == [5])
  }
}

extension Value {
  fileprivate var text: String {
    switch self {
    case .integer(let integer): "\(integer)"
    case .text(let text): text
    default: "?"
    }
  }
}
