import MagicData
import SQLiteCore
import SQLiteHistory
import SQLiteMapping

/// A case that runs the inserts of ``Insert`` while an observer is registered, to measure the cost
/// of observation for the writer.
///
/// C has no observer. The observer doesn't run during the measurement, because reading is separate
/// work.
struct ObservedInsert: Case {
  /// The kind of observation.
  private enum Detail: String {
    case tables
    case deltas
  }

  let name: String
  let summary: String
  private let detail: Detail

  static let all = [ObservedInsert(.tables), ObservedInsert(.deltas)]

  private init(_ detail: Detail) {
    self.detail = detail
    name = "insert-\(detail.rawValue)"
    summary =
      detail == .tables
      ? "insert all rows while an observation waits for changes of another table"
      : "insert all rows while `deltas` reports each row"
  }

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: Insert().c,
      .statement: observed { database, fixture in
        try database.write { connection in
          var statement = try connection.statement(SQL(unchecked: Item.insert))
          for item in fixture.items {
            try item.bind(to: &statement)
            try statement.run()
          }
        }
      },
      .record: observed { database, fixture in
        _ = try database.write { try $0.insert(contentsOf: fixture.items) }
      },
    ]
  }

  /// Returns the ratios of the times to those of the same calls without an observer.
  func remark(on measurements: [Measurement]) -> String? {
    let ratios = [Engine.statement, .record].compactMap { engine -> String? in
      let own = measurements.first { $0.case == name && $0.engine == engine }
      let plain = measurements.first { $0.case == Insert().name && $0.engine == engine }
      guard let own, let plain else { return nil }
      return "\(fixed(own.nanoseconds / plain.nanoseconds, digits: 2)) times (\(engine.rawValue))"
    }
    return ratios.isEmpty
      ? nil
      : "\(name): \(ratios.joined(separator: ", ")) the time of the same calls without an observer"
  }

  private func observed(_ work: @escaping (Database, Fixture) throws -> Void) -> Turn {
    { [detail] trial in
      let fixture = trial.fixture
      let magic = try openStore(fixture.freshPath)
      try magic.database.executeChange(SQL(unchecked: Item.createTable))
      let changes = detail == .tables ? magic.changes(of: CounterObject.self) : nil
      let deltas = detail == .deltas ? magic.database.deltas(of: Item.self) : nil
      try trial.measure { try work(magic.database, fixture) }
      withExtendedLifetime((changes, deltas)) {}
      try magic.close()
      return try fixture.storedItems()
    }
  }
}
