import MagicData
import MagicHistory

/// A case that runs the updates of ``Update`` as an undo group, or undoes the group.
///
/// C only writes: the new values, or the previous values, which it has in memory.
struct Undo: Case {
  /// The measured operation.
  private enum Step: String {
    case undoable
    case undo
  }

  let name: String
  let summary: String
  private let step: Step

  static let all = [Undo(.undoable), Undo(.undo)]

  private init(_ step: Step) {
    self.step = step
    name = step.rawValue
    summary =
      step == .undoable
      ? "update a quarter of the rows in an undo group"
      : "undo a group that has updated a quarter of the rows"
  }

  var engines: KeyValuePairs<Engine, Turn> {
    switch step {
    case .undoable:
      [
        .c: changing(openC) { try $0.write($1.changes, by: Item.update) },
        .object: changing(openStore, preparing: edit) { magic, objects in
          try magic.undoable("Edit") { _ = try magic.update(objects) }
        },
      ]
    case .undo:
      [
        .c: changing(openC, preparing: changed) { try $0.write($1, by: Item.update) },
        .object: changing(
          openStore,
          preparing: { magic, fixture in
            let objects = try edit(magic, fixture)
            try magic.undoable("Edit") { _ = try magic.update(objects) }
            return try magic.history()
          }
        ) { _, history in
          _ = try history.undo()
        },
      ]
    }
  }

  func operations(on fixture: Fixture) -> Int { fixture.changes.count }

  /// Returns the ratio of the time to that of the same update without a history.
  func remark(on measurements: [Measurement]) -> String? {
    let own = measurements.first { $0.case == name && $0.engine == .object }
    let plain = measurements.first { $0.case == Update().name && $0.engine == .object }
    guard let own, let plain else { return nil }
    return
      "\(name): \(fixed(own.nanoseconds / plain.nanoseconds, digits: 2)) times as long as the update of the objects"
  }

  /// Starts the history and assigns new values to fetched objects.
  private func edit(_ magic: MagicData, _ fixture: Fixture) throws -> [ItemObject] {
    _ = try magic.history()
    return try Update.changedObjects(magic, fixture)
  }

  /// Writes the new values and returns the previous items.
  private func changed(_ connection: CConnection, _ fixture: Fixture) throws -> [Item] {
    try connection.write(fixture.changes, by: Item.update)
    let places = Dictionary(uniqueKeysWithValues: fixture.items.enumerated().map { ($1.id, $0) })
    return fixture.changes.compactMap { places[$0.id].map { fixture.items[$0] } }
  }
}
