package import MagicData

/// Uses databases that another program has created, like programs do.
package enum DatabaseImage {
  /// A record that the images of the corpus contain and hostile images imitate.
  package struct Item: Record, Equatable {
    package var id: Int
    package var name: String
    package var size: Double?
    package var tags: [String]
    package var data: [UInt8]?

    package init(id: Int, name: String) {
      self.id = id
      self.name = name
      size = Double(id) / 4
      tags = ["a", name]
      data = [0, 255]
    }
  }

  /// Returns options for untrusted databases in memory or in files.
  package static func options(_ mode: Database.Options.Mode = .readOnly) -> Database.Options {
    var options = Database.Options.untrusted
    options.mode = mode
    options.accessTimeout = .seconds(5)
    options.busyTimeout = .zero
    return options
  }

  /// Opens an image in memory and uses it.
  package static func use(_ bytes: [UInt8]) {
    do {
      var options = options(.readWriteCreate)
      options.accessTimeout = .milliseconds(300)
      try use(Database.memory(serialized: bytes, options: options))
    } catch {
      // A file that isn't a database is rejected.
    }
  }

  /// Reads everything in a database and then writes to it. Each part may fail individually.
  package static func use(_ database: Database) throws {
    let tables = (try? database.read { try $0.existingTables() }) ?? []
    for table in tables.prefix(20) {
      attempt {
        try database.read { connection in
          _ = try connection.columns(of: table)
          _ = try connection.foreignKeys(of: table)
          _ = try connection.existingIndexes(of: table)
          try connection.forEachRow("SELECT * FROM \(identifier: table) LIMIT 200") { row in
            for column in 0..<row.columnCount { _ = try row.value(at: column) }
          }
        }
      }
    }
    attempt { _ = try database.read { try $0.objects(of: Item.self) } }
    attempt {
      _ = try database.read {
        try $0.fetch(.sql("SELECT * FROM Item ORDER BY name", as: Item.self))
      }
    }
    attempt { _ = try database.executeQuery("PRAGMA integrity_check(5)") }
    attempt { _ = try database.serialized() }
    guard database.options.mode != .readOnly else { return }
    attempt { try database.write { try $0.update(Item(id: 1, name: "new")) } }
    attempt { try database.executeChange("DELETE FROM Item WHERE id % 2 = 0") }
  }

  private static func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      // Any error is allowed, but a crash isn't.
      _ = "\(error)"
    }
  }
}
