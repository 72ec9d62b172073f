import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

private struct Item: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("code")]
  var id: Int?
  var code: Int
  var name: String
  var note: String?
  var tags: [Int]
}

/// A model of the database, implemented with a dictionary.
private struct Model {
  var rows: [Int: Item] = [:]
  var lastID = 0

  func clashes(_ item: Item) -> Bool {
    rows.values.contains { $0.code == item.code && $0.id != item.id }
  }

  mutating func put(_ item: Item) -> Item {
    var item = item
    let id = item.id ?? lastID + 1
    item.id = id
    lastID = max(lastID, id)
    rows[id] = item
    return item
  }
}

@Suite(.everyEngine) struct RecordModelTests {
  /// Runs 200 random operations on a database and on a dictionary, and compares the results.
  private func run(seed: UInt64, on database: Database) throws {
    var random = SplitMix64(seed: seed)
    var model = Model()
    func item() -> Item {
      Item(
        id: Bool.random(using: &random) ? nil : Int.random(in: 1...12, using: &random),
        code: Int.random(in: 1...20, using: &random),
        name: ["", "a", "é", Engine.text("a\0b")].randomElement(using: &random) ?? "",
        note: Bool.random(using: &random) ? nil : "\(random.next())",
        tags: (0..<Int.random(in: 0...2, using: &random)).map { $0 })
    }
    for step in 0..<200 {
      let value = item()
      let key = Int.random(in: 1...12, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1, 2:
        if model.clashes(value) {
          #expect(throws: SQLiteError.self) { try database.write { try $0.update(value) } }
        } else {
          let saved = try database.write { try $0.update(value) }
          #expect(saved == model.put(value), "step \(step)")
        }
      case 3:
        let exists = value.id.map { model.rows[$0] != nil } ?? false
        if exists || model.clashes(value) {
          #expect(throws: SQLiteError.self) { try database.write { try $0.insert(value) } }
        } else {
          let saved = try database.write { try $0.insert(value) }
          #expect(saved == model.put(value), "step \(step)")
        }
      case 4:
        if let id = value.id, model.rows[id] != nil, !model.clashes(value) {
          try database.write { try $0.updateExisting(value) }
          _ = model.put(value)
        } else {
          #expect(throws: SQLiteError.self) { try database.write { try $0.updateExisting(value) } }
        }
      case 5:
        #expect(
          try database.write { try $0.remove(of: Item.self, primary: key) }
            == (model.rows.removeValue(forKey: key) != nil))
      case 6:
        #expect(
          try database.write { try $0.remove(value) }
            == (value.id.flatMap { model.rows.removeValue(forKey: $0) } != nil))
      case 7:
        let removed = try database.write {
          try $0.removeAll(of: Item.self, where: "code > \(value.code + 12)")
        }
        let gone = model.rows.values.filter { $0.code > value.code + 12 }
        #expect(removed == gone.count, "step \(step)")
        for item in gone { model.rows[item.id ?? 0] = nil }
      case 8:
        try bulk((0..<3).map { _ in item() }, on: database, &model)
      case 9:
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try database.write { connection in
            try connection.removeAll(of: Item.self)
            throw Stop()
          }
        }
      case 10:
        #expect(
          try database.read { try $0.object(of: Item.self, ifPresent: key) } == model.rows[key])
        #expect(
          try database.read { try $0.has(of: Item.self, primary: key) } == (model.rows[key] != nil))
      default:
        let found = try database.read {
          try $0.objects(
            of: Item.self, where: "code >= \(value.code)",
            orderedBy: .column("name").then(.column("id")), limit: 5)
        }
        let expected = model.rows.values.filter { $0.code >= value.code }.sorted {
          ($0.name.utf8.map(Int.init) + [-1, $0.id ?? 0]).lexicographicallyPrecedes(
            $1.name.utf8.map(Int.init) + [-1, $1.id ?? 0])
        }
        #expect(found == Array(expected.prefix(5)), "step \(step)")
      }
      #expect(try database.read { try $0.count(of: Item.self) } == model.rows.count, "step \(step)")
    }
    let all = try database.read { try $0.objects(of: Item.self, orderedBy: .column("id")) }
    #expect(all == model.rows.values.sorted { ($0.id ?? 0) < ($1.id ?? 0) })
  }

  /// Updates several records in one atomic call.
  private func bulk(_ values: [Item], on database: Database, _ model: inout Model) throws {
    var after = model
    for value in values {
      if after.clashes(value) {
        #expect(throws: SQLiteError.self) {
          try database.write { try $0.update(contentsOf: values) }
        }
        return
      }
      _ = after.put(value)
    }
    #expect(try database.write { try $0.update(contentsOf: values) } == values.count)
    model = after
  }

  @Test(arguments: seeds(0..<50)) func `a database in memory behaves like a dictionary`(
    seed: UInt64
  ) throws {
    try run(seed: seed, on: Database.fresh())
  }

  @Test(arguments: seeds(50..<100)) func `a database in a file behaves like a dictionary`(
    seed: UInt64
  ) throws {
    let folder = try TestFolder()
    var options = Database.Options()
    options.synchronous = .offMayCorruptOnPowerCut
    let path = folder.url.appending(path: "test.sqlite3").path
    let database = try Database.at(path, options: options)
    try run(seed: seed, on: database)
    try database.close()
  }
}
