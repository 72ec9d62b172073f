/// A case that inserts and fetches 1,000 to 1,000,000 rows. The cost per row must not grow with
/// their number.
struct Growth: Case {
  /// The number of rows relative to other cases.
  let factor: Double

  let name = "growth"
  let summary = "insert rows in one transaction and fetch as many, from 1,000 to 1,000,000 rows"

  static let all = [0.005, 0.05, 0.5, 5].map(Growth.init)

  var engines: KeyValuePairs<Engine, Turn> {
    let (insert, fetch) = (Insert(), Fetch())
    return [
      .c: both(insert.c, fetch.c), .statement: both(insert.statement, fetch.statement),
      .record: both(insert.record, fetch.record), .object: both(insert.object, fetch.object),
      .grdbRecord: both(insert.grdbRecord, fetch.grdbRecord),
      .grdbCodable: both(insert.grdbCodable, fetch.grdbCodable),
    ]
  }

  func size(for rows: Int) -> Int { max(10, Int(Double(rows) * factor)) }
  var maximumRuns: Int { factor < 0.5 ? .max : 3 }

  private func both(_ first: @escaping Turn, _ second: @escaping Turn) -> Turn {
    { trial in
      var checksum = try first(&trial)
      checksum.add(try second(&trial))
      return checksum
    }
  }
}
