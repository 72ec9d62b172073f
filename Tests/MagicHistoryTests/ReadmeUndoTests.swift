import Foundation
import MagicData
import MagicHistory
import Testing

private struct Person: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var city: String
  init() {
    name = ""
    city = "Bern"
  }
}

private struct Reminder: MagicObject {
  @MagicValue var city: String
  init() { city = "Bern" }
}

/// The examples of the articles about undo.
@Suite struct ReadmeUndoTests {
  private let magic: MagicData
  private let person = Person()

  init() throws {
    magic = try MagicData(type: .temporary)
    try magic.update(person)
    try magic.update(Reminder())
    try magic.database.executeChange("CREATE TABLE stats (id INTEGER PRIMARY KEY, moves INTEGER)")
    try magic.database.executeChange("INSERT INTO stats (moves) VALUES (0)")
  }

  @Test func `a rename is undone`() throws {
    let history = try magic.history(limit: 200)
    try magic.undoable("Rename") {
      person.name = "Zoe"
      try magic.update(person)
    }
    let title = history.undoName.map { "Undo \($0)" }
    try history.undo()
    #expect(title == "Undo Rename")
    #expect(try magic.objects(of: Person.self).map(\.name) == [""])
  }

  @Test func `undo expects the name that the user has seen`() throws {
    let history = try magic.history(limit: 200)
    try magic.undoable("Rename") {
      person.name = "Zoe"
      try magic.update(person)
    }
    if let name = history.undoName { try history.undo(expecting: name) }
    #expect(try magic.objects(of: Person.self).map(\.name) == [""])
  }

  @Test func `a group is undone and redone`() throws {
    let history = try magic.history(limit: 200)
    try magic.undoable("Move to Zürich") {
      person.city = "Zürich"
      try magic.update(person)
      try magic.removeAll(Reminder.where(\.$city == "Bern"))
      try magic.database.executeChange("UPDATE stats SET moves = moves + 1")
    }
    try history.undo()
    try history.redo()
    #expect(try magic.count(of: Reminder.self) == 0)
    #expect(try magic.database.rows("SELECT moves FROM stats", as: Int.self).first == 1)
    try magic.updateAll(Person.all, set: [.set(\.$city, to: "Chur")])
    try history.undo { conflict in
      // Undo only the properties that haven't changed since.
      if conflict.kind == .data, conflict.row.kind == .update { .merge } else { .omit }
    }
    #expect(try magic.objects(of: Person.self).map(\.city) == ["Chur"])
    #expect(try magic.count(of: Reminder.self) == 1)
  }
}
