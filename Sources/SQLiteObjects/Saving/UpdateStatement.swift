import SQLiteCore
import SQLiteMapping

/// A prepared UPDATE that gives new values to some properties of one object.
final class UpdateStatement {
  let plan: ObjectPlan
  /// The properties.
  let slots: [Int]
  private var statement: Statement

  init(_ plan: ObjectPlan, _ slots: [Int], _ connection: Connection) throws {
    self.plan = plan
    self.slots = slots
    let changes = slots.map { slot -> SQL in "\(identifier: plan.properties[slot].name) = ?" }
    let list = SQL(joining: changes, separator: ", ")
    statement = try connection.statement(
      "UPDATE \(identifier: plan.table) SET \(list) WHERE \(identifier: plan.key) = ?")
  }

  /// Says whether the properties are those that were changed.
  func fits(_ snapshot: ObjectStorage.Snapshot) -> Bool {
    var place = 0
    for slot in plan.columns where snapshot.isChanged(slot) {
      guard place < slots.count, slots[place] == slot else { return false }
      place += 1
    }
    return place == slots.count && place > 0
  }

  /// Writes an object's stored forms, and says whether it was there.
  func run(_ forms: [CellContent.Form], _ zIndex: Int64) throws -> Bool {
    let handle = statement.handle
    for place in 0..<slots.count {
      try plan.bind(
        forms[slots[place]], of: slots[place], to: handle, at: Int32(truncatingIfNeeded: place + 1))
    }
    return try run(zIndex)
  }

  /// Writes values, one for each of ``slots``, and says whether the object was there.
  func run(_ values: [Value], _ zIndex: Int64) throws -> Bool {
    for (place, value) in values.enumerated() {
      try statement.handle.bind(value, at: Int32(truncatingIfNeeded: place + 1))
    }
    return try run(zIndex)
  }

  private func run(_ zIndex: Int64) throws -> Bool {
    try statement.handle.bind(zIndex, at: Int32(truncatingIfNeeded: slots.count + 1))
    return try statement.run().rows > 0
  }
}
