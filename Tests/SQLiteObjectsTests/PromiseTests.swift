import Conformance
import Foundation
import MagicData
import SQLiteMapping
import Testing
import TestSupport

private struct Order: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var count: Int = 0
  @MagicValue var buyer: String
  @OptionalMagicValue var next: Order?

  static var traits: [PropertyTrait] { [.indexed(\Self.$buyer)] }

  init() {}
  init(_ buyer: String) { self.buyer = buyer }
}

private enum Grade: Int, Codable, MagicComparable {
  case low
  case high
}

/// Promises of objects about messages, types and other processes.
@Suite(.everyEngine) struct PromiseTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test(.requires(.localWork))
  func `reading an unset value of a new object reports its type and line`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Order().buyer
    }
    #expect(message(result).contains("String"))
    #expect(message(result).contains("Order"))
    #expect(message(result).contains("line 11"))
    #expect(message(result).contains("before it was set"))
  }

  @Test(.requires(.localWork))
  func `reading an unset value after a failed save reports type and property`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let order = Order()
      let magic = try MagicData.fresh()
      // The save throws, but from then on the object has the names of its properties.
      _ = try? magic.update(order)
      // The process ends without releasing the store.
      try magic.close()
      _ = order.buyer
    }
    #expect(message(result).contains("Order.buyer was read before it was set"))
  }

  @Test func `types with an unsortable stored form can't be compared or sorted by`() {
    // Code that requires MagicComparable doesn't compile for these types, for example
    // `site < other` with URLs.
    let unsorted: [Any.Type] = [
      URL.self, Data.self, Bool.self, [Int].self, [String: Int].self, Order.self,
      MagicalSet<Order>.self, MagicAsset<String>.self, Optional<Int>.self,
    ]
    for type in unsorted { #expect(!(type is any MagicComparable.Type), "\(type)") }
    let sorted: [Any.Type] = [
      Int.self, UInt8.self, Int64.self, Double.self, Float.self, String.self, Date.self,
      UUID.self, Decimal.self, Duration.self, Grade.self,
    ]
    for type in sorted { #expect(type is any MagicComparable.Type, "\(type)") }
  }

  @Test(.requires(.files))
  func `writes of several processes on one path add up`() async throws {
    let magic = try await MagicData.at(folder.path)
    try await magic.update(Order("all"))
    let path = folder.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for buyer in ["first", "second"] {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, buyer = buyer as String] in
            try PromiseTests.count(200, buyer, path)
          }
        }
      }
      group.addTask { try PromiseTests.count(50, "third", path) }
      try await group.waitForAll()
    }
    #expect(try await magic.object(of: Order.self, primary: 1).count == 450)
    for (buyer, count) in [("first", 200), ("second", 200), ("third", 50)] {
      #expect(try await magic.count(of: Order.self, where: \.$buyer == buyer) == count)
    }
    // Keys are unique, whichever process generated them.
    #expect(Set(try await magic.object(of: Order.self).map(\.id)).count == 451)
  }

  /// Increments an object's count and saves a new object, `times` times.
  private static func count(_ times: Int, _ buyer: String, _ path: String) throws {
    var options = Database.Options()
    // Three processes take turns, and the machine may be busy.
    options.busyTimeout = .seconds(300)
    let magic = try MagicData.at(path, options: options)
    for _ in 0..<times {
      try magic.transaction {
        let order = try magic.object(of: Order.self, primary: 1)
        order.count += 1
        try magic.update(order)
        try magic.update(Order(buyer))
      }
    }
  }

  @Test func `check reports the differences between tables and types`() throws {
    let magic = try MagicData.at(folder.path)
    #expect(try magic.check(of: Order.self).map(\.kind) == [.missingTable])
    // A type that was never saved needs no migration.
    #expect(try magic.check(of: Order.self).allSatisfy(\.isResolvedByWriting))
    try magic.update(Order("a"))
    #expect(try magic.check(of: Order.self) == [])
    try magic.database.executeChange("ALTER TABLE \"Order\" ADD COLUMN old TEXT")
    #expect(try magic.check(of: Order.self).map(\.kind) == [.extraColumn])
    try magic.database.executeChange("DROP INDEX \"Order(buyer)\"")
    #expect(try magic.check(of: Order.self).map(\.kind) == [.extraColumn, .missingIndex])
    try magic.database.executeMultipleChanges(
      """
      DROP TABLE "Order";
      CREATE TABLE "Order" (
        id INTEGER PRIMARY KEY AUTOINCREMENT, count TEXT, buyer TEXT, next INTEGER NOT NULL);
      INSERT INTO "Order" (count, buyer, next) VALUES ('x', NULL, 0)
      """)
    let kinds = Set(try magic.check(of: Order.self).map(\.kind))
    #expect(kinds.isSuperset(of: [.type, .nulls, .notNull, .missingIndex]))
  }
}
