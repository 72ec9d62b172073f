import Foundation
import SQLiteCore
import SQLiteHistory
import SQLiteMapping
import Testing
import TestSupport

// This file contains the Swift blocks of SQLiteHistory's documentation line by line
// (.ci/checks/readme).

private struct Town: Record, Equatable {
  static let tableName = "town"
  var id: Int
  var name: String
  var population: Int
}

/// Runs the examples of the articles.
@Suite struct ReadmeRowHistoryTests {
  private func database(_ options: Database.Options = Database.Options()) throws -> Database {
    let database = try Database.memory(options: options)
    try database.executeMultipleChanges(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL);
      INSERT INTO town VALUES (1, 'Bern', 137), (2, 'Basel', 177);
      """)
    return database
  }

  private func follow(_ database: Database) async throws -> [Int: Town] {
    var list: [Int: Town] = [:]
    for try await changes in database.deltas(of: Town.self, including: .current) {
      for change in changes {
        switch change {
        case .current(let towns): list = Dictionary(uniqueKeysWithValues: towns.map { ($0.id, $0) })
        case .inserted(let town): list[town.id] = town
        case .updated(_, let town, let properties):
          print("\(town.name): \(properties.sorted().joined(separator: ", "))")
          list[town.id] = town
        case .deleted(let town): list[town.id] = nil
        case .overflow, .replaced: break  // .current comes next
        case .unreadable(let row): print(row)
        }
      }
      if list.isEmpty { break }
    }
    return list
  }

  @Test func `the loop over deltas maintains a list`() async throws {
    let readsTowns = Flag()
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.trace { event in
        if case .begins(let sql) = event, sql.hasPrefix("SELECT"), sql.contains("town") {
          readsTowns.set()
        }
      }
    }
    let database = try database(options)
    async let list = follow(database)
    // The loop reads the current rows first. All changes after that are deltas.
    try await waitUntil { readsTowns.isSet }
    try await database.executeChange("UPDATE town SET population = population + 1 WHERE id = 1")
    try await database.executeChange("DELETE FROM town")
    #expect(try await list.isEmpty)
  }

  @Test func `patches can be sent in files and merged`() throws {
    let folder = try TestFolder()
    let file = URL(fileURLWithPath: folder.file("patch"))
    let database = try database(), other = try self.database()
    let patch = try database.patch { connection in
      try connection.executeChange("UPDATE town SET name = 'Berne' WHERE id = 1")
    }
    try JSONEncoder().encode(patch).write(to: file, options: .atomic)

    try other.executeChange("UPDATE town SET name = 'Bärn', population = 138 WHERE id = 1")
    let received = try JSONDecoder().decode(Patch.self, from: Data(contentsOf: file))
    let report = try other.apply(received) { conflict in
      switch (conflict.kind, conflict.row.kind) {
      case (.data, .update): .merge  // Take their columns, except those that have changed here.
      case (.conflict, _): .replace  // Both copies have inserted the row: take theirs.
      default: .omit  // Keep our row.
      }
    }
    print("\(report.appliedCount) rows, \(report.resolved.count) conflicts")
    #expect(try other.rows("SELECT name FROM town WHERE id = 1", as: String.self) == ["Bärn"])

    try database.apply(patch.inverted)
    #expect(try database.rows("SELECT name FROM town WHERE id = 1", as: String.self) == ["Bern"])
  }

  @Test func `applying a rebased patch to the other copy makes both equal`() throws {
    let database = try database(), other = try self.database()
    let local = try database.patch { connection in
      try connection.executeChange("UPDATE town SET name = 'Bärn', population = 140 WHERE id = 1")
    }
    let remote = try other.patch { connection in
      try connection.executeChange("UPDATE town SET name = 'Berne' WHERE id = 1")
    }
    let report = try database.apply(remote) { _ in .omit }
    try other.apply(local.rebased(onto: report))
    #expect(try other.dump("town") == database.dump("town"))
  }

  @Test func `a journal returns the changes since a mark`() async throws {
    let folder = try TestFolder()
    let database = try Database(path: folder.file())
    try await database.executeChange(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL)")
    let copy = try Database.memory()
    try await copy.executeChange(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL)")
    let journal = try await database.journal(limit: 16 << 20)
    var mark = try await journal.mark()
    try await database.write { try $0.insert(Town(id: 1, name: "Bern", population: 137)) }

    let next = try await journal.mark()
    if let patch = try await journal.patch(since: mark) {
      try await copy.apply(patch, isIdempotent: true)
      mark = next
    } else {
      try await database.backup(to: copy)  // The journal no longer contains the mark.
    }
    #expect(mark == next)
    #expect(try copy.dump("town") == database.dump("town"))
  }
}
