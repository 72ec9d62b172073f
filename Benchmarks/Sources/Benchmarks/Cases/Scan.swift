import CSQLite
import Foundation
import GRDB

/// A case that steps through all rows and reads every column without creating structs.
struct Scan: Case {
  let name = "scan"
  let summary = "step through all rows and read every column, only computing a checksum"

  var engines: KeyValuePairs<Engine, Turn> {
    [.c: c, .statement: statement, .rows: rows, .grdbStatement: grdbStatement]
  }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.path)
    try connection.execute(Item.warm)
    return try trial.measure {
      let statement = try unsafe connection.prepare(Item.selectAll)
      defer { unsafe sqlite3_finalize(statement) }
      var checksum = Checksum()
      while try unsafe connection.step(statement) {
        checksum.add(unsafe sqlite3_column_int64(statement, 0))
        checksum.add(unsafe bytes(of: sqlite3_column_text(statement, 1), statement, 1).bytes)
        checksum.add(unsafe sqlite3_column_int64(statement, 2))
        checksum.add(unsafe sqlite3_column_double(statement, 3))
        checksum.add(unsafe sqlite3_column_int64(statement, 4))
        if let note = unsafe sqlite3_column_text(statement, 5) {
          checksum.add(unsafe bytes(of: note, statement, 5).bytes)
        } else {
          checksum.addNull()
        }
        if unsafe sqlite3_column_type(statement, 6) == SQLITE_NULL {
          checksum.addNull()
        } else {
          checksum.add(unsafe sqlite3_column_double(statement, 6))
        }
        checksum.add(unsafe bytes(of: sqlite3_column_blob(statement, 7), statement, 7).bytes)
      }
      return checksum
    }
  }

  /// Reads strings and `Data`, because GRDB can't borrow text, and copies bytes faster than it
  /// borrows them.
  private func grdbStatement(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    return try trial.measure {
      try queue.read { database in
        let rows = try Row.fetchCursor(database, sql: Item.selectAll)
        var checksum = Checksum()
        while let row = try rows.next() {
          checksum.add(row[0] as Int64)
          checksum.add(row[1] as String)
          checksum.add(row[2] as Int64)
          checksum.add(row[3] as Double)
          checksum.add(row[4] as Int64)
          if let note = row[5] as String? { checksum.add(note) } else { checksum.addNull() }
          if let rating = row[6] as Double? { checksum.add(rating) } else { checksum.addNull() }
          checksum.add(row[7] as Data)
        }
        return checksum
      }
    }
  }

  /// Returns the bytes of a column. They are valid until the next step.
  @unsafe private func bytes(
    of start: UnsafeRawPointer?, _ statement: OpaquePointer, _ column: Int32
  ) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
