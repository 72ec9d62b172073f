import Conformance
import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// The order of decimals in stores of this and earlier versions.
@Suite(.everyEngine, .requires(.collations)) struct DecimalIndexTests {
  struct Price: MagicObject {
    static let traits: [PropertyTrait] = [.indexed(\Price.$amount)]
    @PrimaryMagicValue var id: Int
    @MagicValue var amount: Decimal
    @OptionalMagicValue var length: Duration?

    init() { amount = 0 }

    init(_ id: Int, _ amount: Decimal) {
      self.id = id
      self.amount = amount
    }
  }

  private let amounts: [Decimal] = [10, 9, -1, Decimal(string: "9.5") ?? 0, 100]

  private func plan(_ magic: MagicData, _ filter: Filter<Price>) throws -> String {
    let condition = try filter.sql(in: magic)
    return try magic.database.rows(
      """
      EXPLAIN QUERY PLAN SELECT id FROM Price WHERE \(condition)
      ORDER BY amount COLLATE magicdata_decimal
      """, as: Int.self, Int.self, Int.self, String.self
    ).map(\.3).joined(separator: "\n")
  }

  @Test func `an index serves ranges, equality and the order of decimals`() throws {
    let magic = try MagicData.fresh()
    try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
    for filter: Filter<Price> in [\.$amount > 9, \.$amount == 10, 1...10 ~= \.$amount] {
      let plan = try plan(magic, filter)
      #expect(plan.contains("SEARCH Price USING"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
    #expect(
      try magic.fetch(
        Price.where(\.$amount > 9).ordered(by: .ascending(\.$amount)).values(\.$amount))
        == [Decimal(string: "9.5"), 10, 100])
    #expect(try magic.check(of: Price.self).isEmpty)
  }

  @Test func `an older store sorts correctly, and the next write creates its index`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/store"
    do {
      let magic = try MagicData.at(path)
      try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
      // The index as earlier versions of the library created it.
      try magic.database.executeMultipleChanges(
        """
        DROP INDEX "Price(amount)";
        CREATE INDEX "Price(amount)" ON "Price" ("amount");
        """)
      try magic.database.close()
    }
    do {
      var options = Database.Options()
      options.mode = .readOnly
      let database = try Database(path: path + "/default.sqlite3", options: options)
      #expect(try database.rows("SELECT count(*) FROM Price", as: Int.self).first == 5)
    }
    let magic = try MagicData.at(path)
    let search = try plan(magic, (\Price.$amount).isIn([9, 10]))
    #expect(search.contains("SEARCH Price USING"), "\(search)")
    #expect(try magic.count(of: Price.self, where: (\Price.$amount).isIn([9, 10, 11])) == 2)
    #expect(
      try magic.fetch(
        Price.where(\.$amount > 9).ordered(by: .descending(\.$amount)).values(\.$amount))
        == [100, 10, Decimal(string: "9.5")])
    #expect(try magic.fetch(Price.all.aggregate(.max(\.$amount))) == 100)
    try magic.update(Price(6, 7))
    let indexes = try magic.database.read { try $0.existingIndexes(of: "Price") }
    #expect(indexes.map(\.collations) == [["magicdata_decimal"]])
    #expect(indexes.map(\.name) == ["Price(amount)"])
    #expect(try magic.check(of: Price.self).isEmpty)
    #expect(try magic.database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
  }

  @Test func `durations also have an order and exact sums`() throws {
    let magic = try MagicData.fresh()
    let lengths: [Duration?] = [
      .seconds(10), .seconds(9), .milliseconds(-500), nil,
      Duration(secondsComponent: 0, attosecondsComponent: 1),
    ]
    try magic.update(
      lengths.enumerated().map { index, length in
        let price = Price(index + 1, 0)
        price.length = length
        return price
      })
    #expect(
      try magic.fetch(
        Price.where(\.$length > .zero).ordered(by: .ascending(\.$length)).values(\.$length))
        == [lengths[4], lengths[1], lengths[0]])
    #expect(
      try magic.fetch(Price.all.aggregate(.sum(\.$length)))
        == lengths.compactMap(\.self).reduce(.zero, +))
    #expect(try magic.fetch(Price.all.aggregate(.min(\.$length))) == .milliseconds(-500))
  }

  struct Cost: MagicObject {
    static let traits: [PropertyTrait] = [.indexed(\Cost.$sum)]
    @PrimaryMagicValue var id: Int
    @MagicValue var sum: Decimal
    @OptionalMagicValue var length: Duration?

    init() { sum = 0 }
  }

  @Test func `an index keeps its order when its table and column are renamed`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/store"
    do {
      let magic = try MagicData.at(path)
      try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
      try magic.database.close()
    }
    let magic = try MagicData.at(path)
    try magic.migrate([
      Migration(
        "costs", .renameProperty("amount", to: "sum", of: "Price"),
        .renameObjects("Price", to: "Cost"))
    ])
    #expect(
      try magic.fetch(Cost.ordered(by: .ascending(\.$sum)).values(\.$sum)) == amounts.sorted())
    #expect(try magic.check(of: Cost.self).isEmpty)
    let indexes = try magic.database.read { try $0.existingIndexes(of: "Cost") }
    #expect(indexes.map(\.collations) == [["magicdata_decimal"]])
  }

  @Test func `restoring a dump also restores the index`() throws {
    let folder = try TestFolder()
    let magic = try MagicData.fresh()
    try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
    try magic.database.dump(to: .json(path: folder.path + "/dump.json"))
    let database = try Database(path: folder.path + "/copy.sqlite3")
    try database.restore(from: .json(path: folder.path + "/dump.json"))
    #expect(
      try database.rows(
        "SELECT amount FROM Price ORDER BY amount COLLATE magicdata_decimal", as: Decimal.self)
        == amounts.sorted())
    #expect(
      try database.read { try $0.existingIndexes(of: "Price") }.map(\.collations) == [
        ["magicdata_decimal"]
      ])
  }

  @Test func `a hostile schema with the collation and functions causes no crash`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/hostile.sqlite3"
    do {
      var options = Database.Options()
      options.allowsSchemaDamage = true
      options.prepareConnection = { connection in
        try connection.addVariadicFunction(
          "magicdata_text_count", isDeterministic: true, isUsableInSchema: true
        ) { _ in .integer(0) }
      }
      let database = try Database.at(path, options: options)
      try database.executeMultipleChanges(
        """
        CREATE TABLE t (x COLLATE magicdata_decimal PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE g (x, y AS (magicdata_text_count(x)));
        INSERT INTO g VALUES (x'ff');
        INSERT INTO t VALUES (x'ff00'), (CAST(x'ff' AS TEXT)), (1), (1e300), ('1'), ('-');
        CREATE VIEW v AS SELECT magicdata_decimal_sum(x) AS s, magicdata_percentile(x, 2) AS p FROM t;
        CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT magicdata_text_replacing(new.x, '', 'x'); END;
        """)
      try database.close()
    }
    var options = Database.Options.untrusted
    options.mode = .readWriteCreate
    let magic = try MagicData.at(path, options: options)
    let texts = try magic.database.rows("SELECT hex(x) FROM t ORDER BY x", as: String.self)
    #expect(texts.count == 6)
    _ = try? magic.database.rows("SELECT y FROM g", as: Value.self)
    _ = try? magic.database.rows("SELECT s FROM v", as: Value.self)
    _ = try? magic.database.rows("SELECT p FROM v", as: Value.self)
    _ = try? magic.database.executeChange("INSERT INTO t VALUES ('2')")
    _ = try? magic.database.rows("PRAGMA integrity_check", as: Value.self)
    #expect(try magic.database.rows("SELECT 1", as: Int.self).first == 1)
  }
}
