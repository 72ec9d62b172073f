import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

/// A record with a property of each kind that records can store.
struct AllKinds: Record, Equatable, Sendable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let prototype: AllKinds? = AllKinds()
  var id: Int?
  var name = ""
  var large: Int64 = 0
  var real = 0.0
  var flag = false
  var note: String?
  var rating: Double?
  var other: Int64?
  var maybe: Bool?
  var small: UInt8 = 0
  var data = Data()
  var when: Date?
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var tags: [String] = []
  var single: Float = 0

  init() {}

  init(_ random: inout SplitMix64) {
    name = String(random.next(), radix: 36)
    large = Int64(bitPattern: random.next())
    real = Double.random(in: -1e9...1e9, using: &random)
    flag = Bool.random(using: &random)
    note = Bool.random(using: &random) ? nil : Engine.text("ä\0\(random.next())")
    rating = Bool.random(using: &random) ? nil : Double(bitPattern: random.next() & ~(0x7ff << 52))
    other = Bool.random(using: &random) ? nil : .min
    maybe = [nil, true, false].randomElement(using: &random) ?? nil
    small = UInt8.random(in: 0...255, using: &random)
    data = Data(
      (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8(truncatingIfNeeded: random.next())
      })
    when = Bool.random(using: &random) ? nil : Date(timeIntervalSinceReferenceDate: real / 7)
    uuid = UUID()
    tags = (0..<Int.random(in: 0...3, using: &random)).map { "\($0)" }
    single = Float.random(in: -1...1, using: &random)
  }
}

/// A record with the same columns, without a prototype, with keys from the caller.
private struct PlainAllKinds: Record, Equatable {
  static let tableName = "AllKinds"
  var id: Int?
  var name: String
  var large: Int64
  var real: Double
  var flag: Bool
  var note: String?
  var rating: Double?
  var other: Int64?
  var maybe: Bool?
  var small: UInt8
  var data: Data
  var when: Date?
  var uuid: UUID
  var tags: [String]
  var single: Float
}

@Suite(.everyEngine) struct AllKindsTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `ten thousand records with properties of all kinds are fetched unchanged`() throws {
    var random = SplitMix64(seed: 44)
    let values = (0..<10_000).map { number in
      var value = AllKinds(&random)
      value.id = number + 1
      return value
    }
    try database.write { try $0.insert(contentsOf: values) }
    let read = try database.read { try $0.objects(of: AllKinds.self, orderedBy: .column("id")) }
    #expect(read == values)
    for value in values.prefix(50) {
      let one = try database.read { try $0.object(of: AllKinds.self, ifPresent: value.id ?? 0) }
      #expect(one == value)
    }
  }

  @Test func `rows are the same as those of a type without a prototype`() throws {
    var random = SplitMix64(seed: 45)
    let values = (0..<300).map { _ in AllKinds(&random) }
    for value in values { try database.write { try $0.update(value) } }
    let rows = try database.executeQuery("SELECT * FROM AllKinds")
    let plain = try database.read {
      try $0.fetch(.sql("SELECT * FROM AllKinds ORDER BY id", as: PlainAllKinds.self))
    }
    #expect(plain.map(\.name) == values.map(\.name))
    #expect(plain.map(\.data) == values.map(\.data))
    try database.executeChange("ALTER TABLE AllKinds RENAME TO Other")
    let other = try Database.fresh()
    try other.write { connection in for value in plain { try connection.update(value) } }
    #expect(try other.executeQuery("SELECT * FROM AllKinds") == rows)
  }

  @Test func `update returns the assigned key, and existing records keep their keys`() throws {
    var sample = try database.write { try $0.update(AllKinds()) }
    #expect(sample.id == 1)
    sample.name = "changed"
    #expect(try database.write { try $0.update(sample) } == sample)
    #expect(try database.read { try $0.count(of: AllKinds.self) } == 1)
    #expect(try database.read { try $0.object(of: AllKinds.self, ifPresent: 1) }?.name == "changed")
  }

  @Test func `integers are read as reals, and other storage class mismatches throw`() throws {
    try database.write { try $0.insert(AllKinds()) }
    try database.executeChange("UPDATE AllKinds SET real = 5")
    try database.executeChange("UPDATE AllKinds SET rating = 7, large = 3")
    let sample = try #require(try database.read { try $0.object(of: AllKinds.self, ifPresent: 1) })
    #expect(sample.real == 5 && sample.rating == 7 && sample.large == 3)
    let error = #expect(throws: RowDecodingError.self) {
      try database.read {
        try $0.fetch(.sql("SELECT id, 'x' AS large, * FROM AllKinds", as: AllKinds.self))
      }
    }
    #expect(error?.column == "large" && error?.codingPath == ["large"])
    let missing = #expect(throws: RowDecodingError.self) {
      try database.read { try $0.fetch(.sql("SELECT id FROM AllKinds", as: AllKinds.self)) }
    }
    #expect(missing?.message.contains("name") == true)
  }

  @Test func `a value that can't be stored throws an error that names its property`() throws {
    var sample = AllKinds()
    sample.real = .nan
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.insert(sample) } }
    #expect(error?.message.contains("real") == true)
    #expect(try database.read { try $0.count(of: AllKinds.self) } == 0)
  }

  @Test func `values of one record don't leak into the next`() throws {
    var full = AllKinds()
    full.note = "note"
    full.rating = 1
    full.maybe = true
    full.when = Date(timeIntervalSinceReferenceDate: 0)
    try database.write { try $0.insert(contentsOf: [full, AllKinds(), full]) }
    let read = try database.read { try $0.objects(of: AllKinds.self, orderedBy: .column("id")) }
    #expect(read.map(\.note) == ["note", nil, "note"])
    #expect(read.map(\.rating) == [1, nil, 1])
    #expect(read.map(\.maybe) == [true, nil, true])
    #expect(read.map(\.when) == [full.when, nil, full.when])
  }
}
