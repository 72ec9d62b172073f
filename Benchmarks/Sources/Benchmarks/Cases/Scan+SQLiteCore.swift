import SQLiteCore

extension Scan {
  func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    return try trial.measure {
      try database.read { connection in
        var statement = try connection.statement(SQL(unchecked: Item.selectAll))
        var checksum = Checksum()
        while try statement.step() {
          checksum.add(statement.integer(at: 0))
          statement.withBytes(at: 1) { checksum.add($0) }
          checksum.add(statement.integer(at: 2))
          checksum.add(statement.real(at: 3))
          checksum.add(statement.integer(at: 4))
          if statement.isNull(at: 5) {
            checksum.addNull()
          } else {
            statement.withBytes(at: 5) { checksum.add($0) }
          }
          if statement.isNull(at: 6) {
            checksum.addNull()
          } else {
            checksum.add(statement.real(at: 6))
          }
          statement.withBytes(at: 7) { checksum.add($0) }
        }
        return checksum
      }
    }
  }

  /// Reads columns with checked types. Borrows the bytes of texts and blobs, to avoid creating
  /// strings.
  func rows(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    return try trial.measure {
      try database.read { connection in
        var checksum = Checksum()
        try connection.forEachRow(SQL(unchecked: Item.selectAll)) { row in
          checksum.add(try row.get(0, as: Int64.self))
          row.withBytes(at: 1) { checksum.add($0) }
          checksum.add(try row.get(2, as: Int64.self))
          checksum.add(try row.get(3, as: Double.self))
          checksum.add(try row.get(4, as: Int64.self))
          if row.isNull(at: 5) {
            checksum.addNull()
          } else {
            row.withBytes(at: 5) { checksum.add($0) }
          }
          if let rating = try row.get(6, as: Double?.self) {
            checksum.add(rating)
          } else {
            checksum.addNull()
          }
          row.withBytes(at: 7) { checksum.add($0) }
        }
        return checksum
      }
    }
  }
}
