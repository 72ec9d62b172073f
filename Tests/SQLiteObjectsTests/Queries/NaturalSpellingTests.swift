import Conformance
import Foundation
import MagicData
import Synchronization
import Testing

private struct Sale: MagicObject {
  static let tableName = "NaturalSale"

  @PrimaryMagicValue var id: Int
  @MagicValue var country: String
  @MagicValue var price: Decimal
  @MagicValue var weight: Double
  @MagicValue var count: Int
  @MagicValue var date: Date
  @OptionalMagicValue var paid: Date?
  @OptionalMagicValue var note: String?
  @OptionalMagicValue var shop: Shop?

  init() {}

  init(_ country: String, _ price: Decimal, _ weight: Double, _ count: Int, day: Double) {
    self.country = country
    self.price = price
    self.weight = weight
    self.count = count
    date = Date(timeIntervalSince1970: day * 86_400)
  }
}

private struct Shop: MagicObject {
  static let tableName = "NaturalShop"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @ReverseMagicValue(\Sale.$shop) var sales: AsyncReverseMagicSet<Sale>
  @MagicValue var best: AsyncMagical<[Sale]>

  init() {}

  init(_ name: String, best: [Sale] = []) {
    self.name = name
    self.best = AsyncMagical(value: best)
  }
}

/// Queries as a Swift programmer would write them at first.
@Suite(.timeLimit(.minutes(40)), .everyEngine) struct NaturalSpellingTests {
  let magic: MagicData
  private let sales: [Sale]
  private let shops: [Shop]

  init() throws {
    magic = try MagicData.fresh()
    sales = [
      Sale("CA", 1.10, 0.5, 3, day: 0), Sale("CA", 2.25, 1.5, 2, day: 400),
      Sale("CH", 0.05, 2.5, 7, day: 800), Sale("CH", 9.99, 4, 1, day: 801),
      Sale("DE", 5, 0.25, -4, day: 3),
    ]
    sales[0].paid = sales[0].date + 60
    sales[1].note = ""
    sales[2].note = "x"
    shops = [Shop("North", best: [sales[3], sales[0], sales[3]]), Shop("South"), Shop("None")]
    for sale in sales[...2] { sale.shop = shops[0] }
    sales[3].shop = shops[1]
    for (index, sale) in sales.enumerated() { sale.id = index + 1 }
    for (index, shop) in shops.enumerated() { shop.id = index + 1 }
    try magic.update(shops)
    try magic.update(sales)
  }

  private func countries(_ filter: Filter<Sale>) throws -> [Int] {
    try magic.objects(of: Sale.self, where: filter).map(\.id)
  }

  @Test(.requires(.functions))
  func `reals and integers can be combined anywhere in an expression`() throws {
    #expect(
      try countries(\.$weight * 1.5 * \.$count - 1 > 2)
        == sales.filter { $0.weight * 1.5 * Double($0.count) - 1 > 2 }.map(\.id))
    #expect(
      try countries(\.$count * (\.$weight + 1) < 5)
        == sales.filter { Double($0.count) * ($0.weight + 1) < 5 }.map(\.id))
    #expect(
      try countries((\Sale.$count + 1) / \.$weight > 4)
        == sales.filter { Double($0.count + 1) / $0.weight > 4 }.map(\.id))
    #expect(
      try countries(\.$weight - (\Sale.$count + 1) > -3)
        == sales.filter { $0.weight - Double($0.count + 1) > -3 }.map(\.id))
    #expect(
      try countries((\Sale.$price + 1) * \.$count >= 6.3)
        == sales.filter { ($0.price + 1) * Decimal($0.count) >= 6.3 }.map(\.id))
  }

  @Test(.requires(.functions)) func `a minus sign negates`() throws {
    #expect(try countries(-\.$count > 0) == [5])
    let doubled = try magic.fetch(Sale.all.values(-(\Sale.$price * 2)))
    #expect(doubled == sales.map { $0.price * -2 })
  }

  @Test(.requires(.functions))
  func `computed dates can be subtracted from properties and dates`() throws {
    let now = Date(timeIntervalSince1970: 900 * 86_400)
    #expect(try countries((\Sale.$paid).or(now) - \.$date > 500 * 86_400) == [5])
    #expect(try countries(\.$date - (\Sale.$paid).or(now) > -86_400) == [1])
    #expect(try countries(now - (\Sale.$date + 86_400) < 100 * 86_400) == [3, 4])
    #expect(try countries((\Sale.$date + 86_400) - now > -100 * 86_400) == [3, 4])
  }

  @Test(.requires(.functions)) func `updateAll can move dates`() throws {
    #expect(
      try magic.updateAll(Sale.where(\.$country == "CA"), set: [\.$date += 60]) == 2)
    #expect(
      try magic.updateAll(Sale.where(\.$country == "CH"), set: [\.$date -= 60]) == 2)
    let moves: [TimeInterval] = [60, 60, -60, -60, 0]
    #expect(try magic.fetch(Sale.all.values(\.$date)) == zip(sales, moves).map { $0.date + $1 })
  }

  @Test func `the function when accepts values and properties without their type`() throws {
    let count: MagicExpression<Sale, Int> = .when(\.$country == "CA", then: 0, else: \.$count)
    #expect(try magic.fetch(Sale.all.values(count)) == [0, 0, 7, 1, -4])
    let other: MagicExpression<Sale, Int> = .when(\.$country == "CA", then: \.$count, else: 0)
    #expect(try magic.fetch(Sale.all.values(other)) == [3, 2, 0, 0, 0])
    #expect(
      try magic.fetch(
        Sale.all.values(MagicExpression<Sale, String>.when(\.$count > 2, then: "many")))
        == ["many", nil, "many", nil, nil])
  }

  @Test(.requires(.functions)) func `isEmpty is true for an empty string and false for nil`()
    throws
  {
    #expect(try countries((\Sale.$note).isEmpty) == [2])
    #expect(try countries(!(\Sale.$note).isEmpty) == [1, 3, 4, 5])
    #expect(try countries((\Sale.$note).or("").trimmed().isEmpty) == [1, 2, 4, 5])
  }

  @Test func `a filter can match one of several related objects`() throws {
    #expect(try countries((\Sale.$shop).isIn([shops[1], shops[2]])) == [4])
    #expect(try countries((\Sale.$shop).isIn(shops)) == [1, 2, 3, 4])
    #expect(try countries(!(\Sale.$shop).isIn([shops[0]])) == [4, 5])
    #expect(try countries((\Sale.$shop).isIn([])) == [])
    #expect(throws: (any Error).self) { try countries((\Sale.$shop).isIn([Shop("new")])) }
  }

  @Test func `raw SQL values can be used like expressions`() throws {
    let hex = MagicExpression<Sale, String>(sql: "hex(\(\.$country))")
    #expect(try magic.fetch(Sale.where(hex != "4341").values(hex)) == ["4348", "4348", "4445"])
    let factor = 2
    #expect(
      try magic.objects(
        of: Sale.self,
        orderedBy: [.ascending(MagicExpression<Sale, Int>(sql: "\(\.$count) % \(factor)"))]
      ).map(\.id) == [2, 5, 1, 3, 4])
    #expect(throws: (any Error).self) {
      try magic.fetch(Sale.all.values(MagicExpression<Sale, Int>(sql: "1) FROM sqlite_schema --")))
    }
  }

  @Test(.requires(.functions))
  func `medians and percentiles accept expressions and are exact for decimals`() throws {
    #expect(try magic.fetch(Sale.all.aggregate(.median(\Sale.$weight * 2))) == 3)
    #expect(try magic.fetch(Sale.all.aggregate(.percentile(\Sale.$count + 1, 0))) == -3)
    #expect(
      try magic.fetch(Sale.all.aggregate(.median(\Sale.$price * 2))) == Decimal(string: "4.5"))
    let (average, median, top) = try magic.fetch(
      Sale.all.aggregate(.average(\.$price), .median(\.$price), .percentile(\.$price, 1)))
    #expect(average == Decimal(string: "3.678"))
    #expect(median == Decimal(string: "2.25"))
    #expect(top == Decimal(string: "9.99"))
    #expect(try magic.fetch(Shop.all.aggregate(.median((\Shop.$sales).count))) == 1)
  }

  @Test(.requires(.functions))
  func `the average of related decimals is a decimal`() throws {
    #expect(
      try magic.fetch(Shop.all.values((\Shop.$sales).average(\.$price)))
        == [try #require(Decimal(string: "3.40")) / 3, Decimal(string: "9.99"), nil])
    #expect(
      try magic.objects(of: Shop.self, where: (\Shop.$sales).average(\.$price * 2) > 10)
        .map(\.name) == ["South"])
    #expect(
      try magic.fetch(Shop.all.values((\Shop.$sales).average(\.$count))) == [4, 1, nil] as [Double?]
    )
  }

  @Test func `conditional counts work for relations and groups`() throws {
    #expect(
      try magic.fetch(Shop.all.values((\Shop.$sales).count(where: \.$count > 2))) == [2, 0, 0])
    let rows = try magic.fetch(
      Sale.all.aggregate(.count, .count(where: \Sale.$count > 2), by: \.$country))
    #expect(rows.map(\.value.0) == [2, 2, 1])
    #expect(rows.map(\.value.1) == [1, 1, 0])
  }

  @Test(.requires(.functions)) func `properties and expressions can be fetched together`()
    async throws
  {
    let rows = try await magic.fetch(
      Shop.where(\.$name != "None").ordered(by: .descending(\.$id)).values(
        \.$id, \.$name, and: (\Shop.$sales).count, (\Shop.$sales).sum(\.$price)))
    #expect(rows.map { $0.1 } == ["South", "North"])
    #expect(rows.map { $0.2 } == [1, 3])
    #expect(rows.map { $0.3 } == [Decimal(string: "9.99"), Decimal(string: "3.40")])
    var names: [String] = []
    for (name, count) in try await magic.fetch(Shop.all.values(\.$name, and: (\Shop.$sales).count))
    {
      names.append("\(name) \(count ?? -1)")
    }
    #expect(names == ["North 3", "South 1", "None 0"])
  }

  @Test(.requires(.functions)) func `groups can be keyed by properties and expressions`()
    async throws
  {
    var found: [String] = []
    for ((country, year), (count, total)) in try await magic.fetch(
      Sale.all.aggregate(
        .count, .sum(\.$price), by: \.$country, and: (\Sale.$date).year, having: .count > 0,
        orderedBy: [.descending(.count), .ascending(\.$country)], limit: 3))
    {
      found.append("\(country) \(year ?? 0) \(count) \(total)")
    }
    #expect(found == ["CH 1972 2 10.04", "CA 1970 1 1.1", "CA 1971 1 2.25"])
    let keys = try await magic.fetch(
      Sale.all.aggregate(.count, by: \.$country, and: \Sale.$count % 2))
    #expect(keys.count == 4)
  }

  @Test(.requires(.functions)) func `groups can be mapped directly`() throws {
    #expect(
      try magic.fetch(Sale.all.aggregate(.max(\.$date), by: \.$country)).map {
        "\($0.key) \($0.value != nil)"
      }
        == ["CA true", "CH true", "DE true"])
    #expect(
      try magic.fetch(Sale.all.aggregate(.count, by: (\Sale.$date).year)).map {
        "\($0.key ?? 0) \($0.value)"
      }
        == ["1970 2", "1971 1", "1972 2"])
    #expect(
      try magic.fetch(
        Sale.all.aggregate(.count, by: \.$country, orderedBy: [.descending(.sum(\.$price))])
      )
      .first?.key == "CH")
  }

  @Test(.requires(.collations))
  func `forEach visits a lazy collection in order, each object once`() async throws {
    let shop = try await magic.object(of: Shop.self, primary: 1)
    let ids = Mutex<[Int]>([])
    try await magic.forEach(shop.best.ordered(by: .ascending(\.$price)), batch: 1) { sale in
      ids.withLock { $0.append(sale.id) }
    }
    #expect(ids.withLock(\.self) == [1, 4])
    #expect(try await magic.fetch(shop.best.where(\.$price > 5)).map(\.id) == [4])
    shop.best.append(sales[1])
    await #expect(throws: MagicError.unsavedChanges(type: "Array<Sale>")) {
      try await magic.forEach(shop.best.ordered(by: .ascending(\.$price))) { _ in }
    }
  }

  @Test func `searching a type without searched properties throws notSearched`() throws {
    #expect(throws: MagicError.notSearched(type: "Sale")) {
      try magic.fetch(Sale.all.search(.all(of: "x")))
    }
    #expect(throws: MagicError.notSearched(type: "Sale")) {
      try magic.count(of: Sale.self, where: .matching(.all(of: "x")))
    }
  }

  @Test func `the error for an existing related object names it and suggests update`() throws {
    let (sale, shop) = (Sale("CA", 1, 1, 1, day: 0), Shop("Other"))
    shop.id = 1
    sale.shop = shop
    let error = #expect(throws: MagicError.self) { try magic.insert(sale) }
    #expect(error == .alreadySaved(type: "Shop", primary: "1"))
    #expect(error.map { "\($0)" }?.contains("another Shop with this primary value") == true)
    #expect(error.map { "\($0)" }?.contains("update(_:)") == true)
  }
}

/// Observed results of requests with several values.
@Suite(.timeLimit(.minutes(40)), .everyEngine) struct ObservedTuplesTests {
  /// Returns the first result and the one after `change`.
  private func twice<Result>(
    _ observed: ObservedResults<Result>, _ change: () throws -> Void
  ) async throws -> [Result] {
    var results: [Result] = []
    for try await result in observed {
      results.append(result)
      if results.count == 2 { break }
      try change()
    }
    return results
  }

  private let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update([Sale("CA", 1, 1, 1, day: 0), Sale("CH", 2, 2, 2, day: 400)])
  }

  private func addSale() throws { try magic.update(Sale("CH", 3, 3, 3, day: 400)) }

  @Test(.requires(.functions)) func `several aggregates are observed`() async throws {
    let results = try await twice(
      magic.observe(Sale.all.aggregate(.count, .sum(\.$price))), addSale)
    #expect(results.map { $0.0 } == [2, 3])
    #expect(results.map { $0.1 } == [3, 6])
  }

  @Test func `aggregates of a missing table are observed`() async throws {
    for try await (count, oldest) in magic.observe(Shop.all.aggregate(.count, .min(\.$name))) {
      #expect(count == 0)
      #expect(oldest == nil)
      break
    }
  }

  @Test func `groups with conditions are observed`() async throws {
    let one = try await twice(
      magic.observe(Sale.all.aggregate(.count, by: \.$country, having: .count > 1)), addSale)
    #expect(one.map { $0.map { "\($0.key) \($0.value)" } } == [[], ["CH 2"]])
    let years = try await twice(
      magic.observe(Sale.all.aggregate(.count, by: (\Sale.$date).year)), addSale)
    #expect(years.map { $0.map { "\($0.key ?? 0) \($0.value)" } }.last == ["1970 1", "1971 3"])
    let groups = try await twice(
      magic.observe(
        Sale.all.aggregate(
          .count, .sum(\.$count), by: \.$country, \.$note, orderedBy: [.descending(.count)],
          limit: 1)), addSale)
    #expect(groups.map { $0.first?.key.0 } == ["CH", "CH"])
    #expect(groups.map { $0.first?.value.1 } == [8, 11])
    let mixed = try await twice(
      magic.observe(Sale.all.aggregate(.count, by: \.$country, and: (\Sale.$date).year)), addSale)
    var found: [String] = []
    for ((country, year), count) in mixed.last ?? [] {
      found.append("\(country) \(year ?? 0) \(count)")
    }
    #expect(found == ["CA 1970 1", "CH 1971 5"])
    let calculated = try await twice(
      magic.observe(Sale.all.aggregate(.count, .max(\.$weight), by: \.$count % 2, \.$count % 3)),
      addSale)
    #expect(calculated.map(\.count) == [3, 3])
  }

  @Test func `values are observed`() async throws {
    let paths = try await twice(magic.observe(Sale.all.values(\.$country, \.$count)), addSale)
    #expect(paths.map { $0.map(\.1) } == [[1, 2], [1, 2, 3]])
    let expression = try await twice(
      magic.observe(Sale.where(\.$country == "CH").values(\.$count * 2)), addSale)
    #expect(expression == [[4, 6], [4, 6, 6]])
    let expressions = try await twice(
      magic.observe(
        Sale.all.distinct().values(
          \.$count * 2, MagicExpression<Sale, String>(sql: "lower(\(\.$country))")))
    ) { try magic.update(Sale("US", 3, 3, 3, day: 400)) }
    #expect(expressions.last?.map { $0.1 ?? "" } == ["ca", "ch", "ch", "us"])
    let both = try await twice(
      magic.observe(Sale.all.limit(1).values(\.$country, and: \Sale.$count * 2))
    ) { try magic.removeAll(Sale.where(\.$country == "CA")) }
    #expect(both.map { $0.map { "\($0.0) \($0.1 ?? 0)" } } == [["CA 2"], ["CH 4"]])
  }
}
