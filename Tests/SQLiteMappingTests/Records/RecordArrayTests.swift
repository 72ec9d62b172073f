import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Synchronization
import Testing
import TestSupport

@Suite(.everyEngine) struct RecordArrayTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `updating an array returns it with assigned keys`() throws {
    let written = try database.write {
      try $0.update([
        City(name: "One", population: 1), City(id: 7, name: "Seven", population: 7),
        City(name: "Eight", population: 8),
      ])
    }
    #expect(written.map(\.id) == [1, 7, 8])
    #expect(
      try database.read { try $0.objects(of: City.self, orderedBy: .column("id")) } == written)
    var changed = written
    changed[0].name = "Uno"
    #expect(try database.write { try $0.update(changed) } == changed)
    #expect(try database.read { try $0.count(of: City.self) } == 3)
  }

  @Test func `an array insert is atomic`() throws {
    try database.write { try $0.insert(City(id: 2, name: "Two", population: 2)) }
    let error = #expect(throws: SQLiteError.self) {
      try database.write {
        try $0.insert([
          City(id: 1, name: "One", population: 1), City(id: 2, name: "Zwei", population: 2),
        ])
      }
    }
    #expect(error?.code.primary == .constraint)
    #expect(try database.read { try $0.objects(of: City.self) }.map(\.name) == ["Two"])
    #expect(try database.write { try $0.insert([City]()) } == [])
  }

  @Test func `calls that suspend return assigned keys too`() async throws {
    let written = try await database.write { try $0.insert([City(name: "A", population: 1)]) }
    #expect(written.map(\.id) == [1])
    let again = try await database.write {
      try $0.update(written + [City(name: "B", population: 2)])
    }
    #expect(again.map(\.id) == [1, 2])
  }

  @Test func `records are visited one by one in an async read`() async throws {
    let cities = (1...1_000).map { City(name: "\($0)", population: $0) }
    try await database.write { try $0.insert(cities) }
    let sum = Mutex(0)
    try await database.read { connection in
      try connection.forEach(City.where("population % 2 = 0")) { city in
        sum.withLock { $0 += city.population }
      }
    }
    #expect(sum.withLock { $0 } == 250_500)
    let names = Mutex<[String]>([])
    struct Line: Decodable { var name: String }
    try await database.read { connection in
      try connection.forEach(.sql("SELECT name FROM City ORDER BY id LIMIT 2", as: Line.self)) {
        line in names.withLock { $0.append(line.name) }
      }
    }
    #expect(names.withLock { $0 } == ["1", "2"])
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await database.read { try $0.forEach(City.all) { _ in throw Stop() } }
    }
  }

  /// The text and blobs of a row reuse the memory of the previous row as long as they fit.
  @Test func `text and blobs of every length survive in consecutive rows`() throws {
    var generator = SplitMix64(seed: 31)
    let lengths = [0, 1, 15, 16, 100, 511, 512, 513, 4_095, 4_096, 5_000]
    func text() -> String {
      let letter = ["a", "é", Engine.text("\0"), "🚲"].randomElement(using: &generator) ?? ""
      return String(repeating: letter, count: lengths.randomElement(using: &generator) ?? 0)
    }
    func wide(_ id: Int) -> Wide {
      Wide(
        id: id, texts: [text(), text()], one: text(), two: text(), three: text(), four: text(),
        note: Bool.random(using: &generator) ? text() : nil,
        data: Bool.random(using: &generator) ? Data(text().utf8) : nil)
    }
    var rows = (1...100).map { wide($0) }
    try database.write { try $0.insert(rows) }
    #expect(try database.read { try $0.objects(of: Wide.self, orderedBy: .column("id")) } == rows)
    rows = (1...120).map { wide($0) }
    try database.write { try $0.update(rows) }
    #expect(try database.read { try $0.objects(of: Wide.self, orderedBy: .column("id")) } == rows)
  }

  private struct Wide: Record, Equatable {
    var id: Int
    var texts: [String]
    var one: String
    var two: String
    var three: String
    var four: String
    var note: String?
    var data: Data?
  }
}
