import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

/// Tests histories of random changes, including processes that are killed.
@Suite(.timeLimit(.minutes(40))) struct HistoryProofTests {
  @Test(arguments: [1, 2, 3], [HistoryKeeping.inMemory, .inStore])
  func `undoing all groups restores the first state, redoing all the last one`(
    seed: UInt64, keeping: HistoryKeeping
  ) throws {
    let folder = try TestFolder()
    let magic = try MagicData(path: folder.path)
    let history = try magic.history(limit: 1_000, keeping: keeping)
    var editor = RandomEditor(seed: seed)
    try RandomEditor.prepare(magic)
    for _ in 0..<10 { try editor.edit(magic) }
    var states = [try Dump(magic)]
    while states.count < 30 {
      try magic.undoable("\(states.count)") {
        for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
      }
      if history.undoNames.count == states.count { states.append(try Dump(magic)) }
    }
    for state in states.indices.dropLast().reversed() {
      try history.undo()
      try #require(try Dump(magic) == states[state], "undone to \(state)")
    }
    for state in states.indices.dropFirst() {
      try history.redo()
      try #require(try Dump(magic) == states[state], "redone to \(state)")
    }
    var place = states.count - 1
    for _ in 0..<30 {
      let isUndoing = editor.number(0..<2) == 0
      let name = isUndoing ? try history.undo() : try history.redo()
      if name != nil { place += isUndoing ? -1 : 1 }
      try #require(try Dump(magic) == states[place], "moved to \(place)")
    }
    try magic.assets.removeDeletedFiles()
    #expect(try magic.assets.verify().isEmpty)
    try checkRows(of: magic)
    try history.clear()
    #expect(try magic.assets.sweep().removed.isEmpty)
    #expect(try folder.fileCount == magic.assets.records().count)
  }

  private func checkRows(of magic: MagicData) throws {
    let check = try magic.database.rows("PRAGMA integrity_check", as: String.self).first
    #expect(check == "ok")
    #expect(try magic.database.executeQuery("PRAGMA foreign_key_check").first == nil)
    try magic.database.executeChange(
      "INSERT INTO Book_search (Book_search, rank) VALUES ('integrity-check', 1)")
  }

  @Test(arguments: [1, 2, 3])
  func `a killed process leaves a store with an intact history`(seed: UInt64) throws {
    let folder = try TestFolder()
    do {
      let magic = try MagicData(path: folder.path)
      try RandomEditor.prepare(magic)
      try magic.database.close()
    }
    let first = try Dump(MagicData(path: folder.path))
    for round in 0..<5 {
      try killHelper(
        [folder.path, "\(seed * 100 + UInt64(round))"],
        after: Int(seed * 37 % 11) + round * 3)
      let magic = try MagicData(path: folder.path)
      let history = try magic.history(limit: 1_000, keeping: .inStore)
      try checkRows(of: magic)
      #expect(try magic.assets.verify().isEmpty)
      let last = try Dump(magic)
      let (undone, redone) = (history.undoNames.count, history.redoNames.count)
      while try history.undo() != nil {}
      try #require(try Dump(magic) == first, "round \(round)")
      while try history.redo() != nil {}
      for _ in 0..<redone { try history.undo() }
      try #require(try Dump(magic) == last, "round \(round)")
      #expect(history.undoNames.count == undone && history.redoNames.count == redone)
      #expect(try magic.assets.sweep().removed.isEmpty)
      try magic.database.close()
    }
    let magic = try MagicData(path: folder.path)
    let history = try magic.history(limit: 1_000, keeping: .inStore)
    #expect(!history.undoNames.isEmpty || !history.redoNames.isEmpty)
    try history.clear()
    #expect(try folder.fileCount == magic.assets.records().count)
  }
}
