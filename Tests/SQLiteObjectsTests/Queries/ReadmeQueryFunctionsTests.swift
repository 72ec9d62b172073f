import Conformance
import Foundation
import MagicData
import Testing

/// The examples of the article “Operators and functions in queries”.
@Suite(.everyEngine) struct ReadmeQueryFunctionsTests {
  struct Line: MagicObject {
    static let traits: [PropertyTrait] = [.indexed(\Line.$price)]
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @OptionalMagicValue var note: String?
    @MagicValue var price: Decimal
    @MagicValue var quantity: Int
    @MagicValue var date: Date
    @MagicValue var paid: Date

    init() { (name, price, quantity, date, paid) = ("", 0, 0, .distantPast, .distantPast) }
  }

  @Test(.requires(.functions)) func `queries compute with numbers, strings and dates`() throws {
    let magic = try MagicData.fresh()
    let start = Date(timeIntervalSince1970: 1_700_000_000)
    try magic.update(
      (1...10).map { id in
        let line = Line()
        line.id = id
        line.name = "Line \(id)"
        line.note = id % 2 == 0 ? "  NOTE \(id) " : nil
        line.price = Decimal(sign: .plus, exponent: -2, significand: Decimal(id * 99))
        line.quantity = id + 2
        line.date = start + Double(id) * 86_400 * 30
        line.paid = line.date + Double(id) * 86_400 * 5
        return line
      })
    let dear = try magic.objects(
      of: Line.self, where: \.$price * \.$quantity > 20,
      orderedBy: [.descending(\Line.$price * \Line.$quantity)])
    // The sum is an exact Decimal.
    let total = try magic.fetch(Line.all.aggregate(.sum(\Line.$price * \Line.$quantity)))
    let perYear = try magic.fetch(
      Line.all.aggregate(.count, .sum(\.$price), by: (\Line.$date).year))
    let names = try magic.fetch(Line.all.values((\Line.$note).or(\.$name).trimmed().lowercased()))
    let size: MagicExpression<Line, String> = .when(\.$quantity > 9, then: "many", else: "few")
    let sizes = try magic.fetch(Line.all.distinct().values(size))
    let late = try magic.count(of: Line.self, where: \.$paid - \.$date > 30 * 86_400)
    #expect(dear.map(\.id) == [10, 9, 8, 7, 6, 5, 4])
    #expect(total == Decimal(string: "490.05"))
    #expect(perYear.map(\.key) == [2023, 2024])
    #expect(perYear.map(\.value.0) == [1, 9])
    #expect(names.prefix(2) == ["line 1", "note 2"])
    #expect(sizes.compactMap(\.self).sorted() == ["few", "many"])
    #expect(late == 4)
  }

  @Test(.requires(.functions)) func `raw SQL can call the functions`() throws {
    let magic = try MagicData.fresh()
    let line = Line()
    line.id = 1
    line.price = Decimal(string: "0.1") ?? 0
    try magic.update(line)
    #expect(
      try magic.database.rows(
        "SELECT magicdata_decimal_add(magicdata_decimal_sum(price), '0.2') FROM Line",
        as: Decimal.self
      ).first == Decimal(string: "0.3"))
    #expect(
      try magic.objects(
        of: Line.self, where: Filter(sql: "magicdata_text_count(\(\Line.$name)) = 0")
      ).count == 1)
  }
}
