import Foundation
import MagicData
import Testing

/// The order of decimals in stores, old and new.
@Suite struct DecimalIndexTests {
  struct Price: MagicObject {
    static let traits: [PropertyTrait] = [.indexed(\Price.$amount)]
    @PrimaryMagicValue var id: Int
    @MagicValue var amount: Decimal
    @OptionMagicValue var length: Duration?

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
    let magic = try MagicData(type: .memory)
    try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
    for filter: Filter<Price> in [\.$amount > 9, \.$amount == 10, 1...10 ~= \.$amount] {
      let plan = try plan(magic, filter)
      #expect(plan.contains("SEARCH Price USING"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
    #expect(
      try magic.values(of: \Price.$amount, where: \.$amount > 9, orderedBy: [.ascending(\.$amount)])
        == [Decimal(string: "9.5"), 10, 100])
    #expect(try magic.check(of: Price.self).isEmpty)
  }

  @Test func `a store of before is right at once, and gets its index by the next write`() throws {
    let folder = try TemporaryTestFolder()
    let path = folder.path + "/store"
    do {
      let magic = try MagicData(path: path)
      try magic.update(amounts.enumerated().map { Price($0 + 1, $1) })
      // The index as the library made it before.
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
      #expect(try database.firstRow("SELECT count(*) FROM Price", as: Int.self) == 5)
    }
    let magic = try MagicData(path: path)
    #expect(
      try magic.values(
        of: \Price.$amount, where: \.$amount > 9, orderedBy: [.descending(\.$amount)])
        == [100, 10, Decimal(string: "9.5")])
    #expect(try magic.aggregate(.max(\Price.$amount)) == 100)
    try magic.update(Price(6, 7))
    let indexes = try magic.database.existingIndexes(of: "Price")
    #expect(indexes.map(\.collations) == [["magicdata_decimal"]])
    #expect(indexes.map(\.name) == ["Price(amount)"])
    #expect(try magic.check(of: Price.self).isEmpty)
    #expect(try magic.database.firstRow("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test func `durations have an order and exact sums too`() throws {
    let magic = try MagicData(type: .memory)
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
      try magic.values(
        of: \Price.$length, where: \.$length > .zero, orderedBy: [.ascending(\.$length)])
        == [lengths[4], lengths[1], lengths[0]])
    #expect(
      try magic.aggregate(.sum(\Price.$length)) == lengths.compactMap(\.self).reduce(.zero, +))
    #expect(try magic.aggregate(.min(\Price.$length)) == .milliseconds(-500))
  }
}
