import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// Queries of a generated music shop as large as Chinook, compared with SQL that the `sqlite3`
/// shell runs on the same file.
@Suite(.everyEngine, .requires(.files)) struct ShellQueryTests {
  struct Genre: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    init() { name = "" }
  }

  struct Artist: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    init() { name = "" }
  }

  struct Album: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @OptionalMagicValue var artist: Artist?
    init() { title = "" }
  }

  struct Track: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @OptionalMagicValue var composer: String?
    @OptionalMagicValue var album: Album?
    @OptionalMagicValue var genre: Genre?
    @MagicValue var milliseconds: Int
    @OptionalMagicValue var bytes: Int?
    @MagicValue var rating: Double
    @MagicValue var price: Decimal
    init() { (name, milliseconds, rating, price) = ("", 0, 0, 0) }
  }

  struct Customer: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @OptionalMagicValue var company: String?
    @ReverseMagicValue(\Invoice.$customer) var invoices: AsyncReverseMagicSet<Invoice>
    init() { name = "" }
  }

  struct Invoice: MagicObject {
    @PrimaryMagicValue var id: Int
    @OptionalMagicValue var customer: Customer?
    @MagicValue var date: Date
    @MagicValue var total: Decimal
    @ReverseMagicValue(\Line.$invoice) var lines: AsyncReverseMagicSet<Line>
    init() { (date, total) = (.distantPast, 0) }
  }

  struct Line: MagicObject {
    @PrimaryMagicValue var id: Int
    @OptionalMagicValue var invoice: Invoice?
    @OptionalMagicValue var track: Track?
    @MagicValue var price: Decimal
    @MagicValue var quantity: Int
    init() { (price, quantity) = (0, 0) }
  }

  /// A query that returns lines of text, and the equivalent SQL.
  struct Query {
    let sql: String
    let run: (MagicData) throws -> [String]
  }

  /// A filter and the equivalent SQL.
  struct Condition {
    let filter: Filter<Track>
    let sql: String
  }

  private static let words = [
    "Love", "love", "Élan", "nuit", "%", "_", "'", "\"", "--", "ß", "Über", "a\\b", ";", "Zoo",
    "zz", "",
  ]

  private static func name(_ random: inout SplitMix64) -> String {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in
      words.randomElement(using: &random) ?? ""
    }.joined(separator: " ")
  }

  private static func decimal(_ cents: Int) -> Decimal {
    Decimal(sign: .plus, exponent: -2, significand: Decimal(cents))
  }

  private static func fill(_ magic: MagicData, _ random: inout SplitMix64) throws {
    func make<Object: MagicObject>(_ count: Int, _ body: (Int, inout Object) -> Void) -> [Object] {
      (1...count).map { id in
        var object = Object()
        body(id, &object)
        return object
      }
    }
    let genres: [Genre] = make(25) { id, genre in
      genre.id = id
      genre.name = "Genre \(id % 20)"
    }
    let artists: [Artist] = make(275) { id, artist in
      artist.id = id
      artist.name = name(&random)
    }
    let albums: [Album] = make(347) { id, album in
      album.id = id
      album.title = name(&random)
      album.artist =
        Int.random(in: 0..<10, using: &random) == 0 ? nil : artists.randomElement(using: &random)
    }
    let tracks: [Track] = make(3_503) { id, track in
      track.id = id
      track.name = name(&random)
      track.composer = Bool.random(using: &random) ? name(&random) : nil
      track.album =
        Int.random(in: 0..<20, using: &random) == 0 ? nil : albums.randomElement(using: &random)
      track.genre =
        Int.random(in: 0..<20, using: &random) == 0 ? nil : genres.randomElement(using: &random)
      track.milliseconds = Int.random(in: 1_000...900_000, using: &random)
      track.bytes =
        Int.random(in: 0..<8, using: &random) == 0
        ? nil : Int.random(in: 0...30_000_000, using: &random)
      track.rating = Double(Int.random(in: -40...40, using: &random)) / 8
      track.price = decimal([99, 199, 9, 1_050, 900].randomElement(using: &random) ?? 0)
    }
    let customers: [Customer] = make(59) { id, customer in
      customer.id = id
      customer.name = name(&random)
      customer.company = Bool.random(using: &random) ? name(&random) : nil
    }
    let invoices: [Invoice] = make(412) { id, invoice in
      invoice.id = id
      invoice.customer = customers.randomElement(using: &random)
      invoice.date = Date(
        timeIntervalSince1970: 1_230_768_000 + Double(
          Int.random(in: 0..<157_000_000_0, using: &random)) / 10)
      invoice.total = decimal(Int.random(in: 50...2_600, using: &random))
    }
    let lines: [Line] = make(2_240) { id, line in
      line.id = id
      line.invoice = invoices.randomElement(using: &random)
      line.track = tracks.randomElement(using: &random)
      line.price = decimal([99, 199, 1_050].randomElement(using: &random) ?? 0)
      line.quantity = Int.random(in: 1...5, using: &random)
    }
    try magic.transaction {
      try magic.update(tracks)
      try magic.update(customers)
      try magic.update(lines)
      try magic.update(invoices)
      try magic.update(albums)
      try magic.update(artists)
      try magic.update(genres)
    }
  }

  // The formats of values in a line, in Swift and in SQL.
  private static func text(_ value: String?) -> String {
    value.map { "x" + Data($0.utf8).map { String(format: "%02X", $0) }.joined() } ?? "-"
  }
  private static func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "-" }
  private static func fraction(_ value: Double?) -> String {
    value.map { "\(Int($0 * 1_000_000))" } ?? "-"
  }
  private static func amountText(_ value: Decimal?) -> String {
    value.map { String(format: "%.2f", Double("\($0)") ?? .nan) } ?? "-"
  }
  private static func bytes(_ column: String) -> String {
    "CASE WHEN (\(column)) IS NULL THEN '-' ELSE 'x' || hex(CAST(\(column) AS BLOB)) END"
  }
  /// Returns SQL for a real in millionths, because the shell formats reals differently.
  private static func real(_ value: String) -> String {
    "ifnull(CAST((\(value)) * 1000000 AS INTEGER), '-')"
  }
  private static func sqlCents(_ value: String) -> String {
    "coalesce(CASE WHEN (\(value)) IS NOT NULL THEN printf('%.2f', \(value)) END, '-')"
  }
  private static func quoted(_ text: String) -> String {
    "'\(text.replacingOccurrences(of: "'", with: "''"))'"
  }

  private static func condition(_ depth: Int, _ random: inout SplitMix64) -> Condition {
    guard depth > 0 else { return leaf(&random) }
    let left = condition(depth - 1, &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Condition(filter: !left.filter, sql: "NOT coalesce((\(left.sql)), 0)")
    case 1:
      let right = condition(depth - 1, &random)
      return Condition(
        filter: left.filter && right.filter, sql: "((\(left.sql)) AND (\(right.sql)))")
    default:
      let right = condition(depth - 1, &random)
      return Condition(
        filter: left.filter || right.filter, sql: "((\(left.sql)) OR (\(right.sql)))")
    }
  }

  private static let albumTitle = "(SELECT a.title FROM Album a WHERE a.id = Track.album)"
  private static let artistName =
    "(SELECT r.name FROM Album a JOIN Artist r ON r.id = a.artist WHERE a.id = Track.album)"
  private static let genreName = "(SELECT g.name FROM Genre g WHERE g.id = Track.genre)"

  private static func leaf(_ random: inout SplitMix64) -> Condition {
    let number = Int.random(in: 1_000...900_000, using: &random)
    let small = Int.random(in: -5...5, using: &random)
    let word = words.randomElement(using: &random) ?? ""
    let price = decimal([99, 199, 100, 1_000, 900, 9].randomElement(using: &random) ?? 0)
    func has(_ column: String, _ word: String) -> String {
      "substr(\(column), 1, length(\(quoted(word)))) = \(quoted(word))"
    }
    switch Int.random(in: 0..<22, using: &random) {
    case 0: return Condition(filter: \.$milliseconds < number, sql: "milliseconds < \(number)")
    case 1: return Condition(filter: \.$bytes >= number * 20, sql: "bytes >= \(number * 20)")
    case 2: return Condition(filter: \.$bytes == nil, sql: "bytes IS NULL")
    case 3: return Condition(filter: \.$composer != nil, sql: "composer IS NOT NULL")
    case 4: return Condition(filter: \.$price < price, sql: "CAST(price AS REAL) < \(price)")
    case 5: return Condition(filter: \.$price >= price, sql: "CAST(price AS REAL) >= \(price)")
    case 6: return Condition(filter: \.$price == price, sql: "CAST(price AS REAL) = \(price)")
    case 7: return Condition(filter: (\Track.$name).hasPrefix(word), sql: has("name", word))
    case 8:
      return Condition(
        filter: (\Track.$composer).contains(word),
        sql: "instr(composer, \(quoted(word))) > 0 OR (\(word.isEmpty) AND composer IS NOT NULL)")
    case 9:
      return Condition(
        filter: (\Track.$name).hasSuffix(word),
        sql: word.isEmpty ? "1" : "substr(name, -length(\(quoted(word)))) = \(quoted(word))")
    case 10:
      return Condition(
        filter: \.$genre.$name == "Genre \(abs(small))",
        sql: "\(genreName) IS 'Genre \(abs(small))'")
    case 11:
      return Condition(
        filter: (\Track.$album.$artist.$name).hasPrefix(word), sql: has(artistName, word))
    case 12:
      return Condition(filter: \.$album.$title != word, sql: "\(albumTitle) IS NOT \(quoted(word))")
    case 13:
      return Condition(
        filter: (\Track.$name).count > abs(small) * 4, sql: "length(name) > \(abs(small) * 4)")
    case 14:
      return Condition(
        filter: (\Track.$name).replacing("e", with: "") == (\Track.$name),
        sql: "replace(name, 'e', '') = name")
    case 15:
      return Condition(
        filter: \Track.$milliseconds % 7 == abs(small), sql: "milliseconds % 7 = \(abs(small))")
    case 16:
      return Condition(
        filter: \.$rating * \.$milliseconds > Double(number * small),
        sql: "rating * milliseconds > \(number * small)")
    case 17:
      return Condition(
        filter: (\Track.$bytes).or(0) / 1_000 <= number / 50,
        sql: "ifnull(bytes, 0) / 1000 <= \(number / 50)")
    case 18:
      return Condition(
        filter: MagicExpression.when(\Track.$rating < 0, then: -1, else: 1) == small.signum(),
        sql: "CASE WHEN rating < 0 THEN -1 ELSE 1 END = \(small.signum())")
    case 19:
      return Condition(
        filter: (\Track.$name).trimmed() == (\Track.$name), sql: "trim(name) = name")
    case 20:
      return Condition(
        filter: (\Track.$composer).or("").prefix(4) == "Love",
        sql: "substr(ifnull(composer, ''), 1, 4) = 'Love'")
    default:
      return Condition(
        filter: (\Track.$rating).asInt() == small, sql: "CAST(rating AS INTEGER) = \(small)")
    }
  }

  private static func query(_ random: inout SplitMix64) -> Query {
    let condition = condition(Int.random(in: 0...3, using: &random), &random)
    let filter = condition.filter
    let cents = Int.random(in: 50...2_600, using: &random)
    let amount = decimal(cents)
    let limit = Int.random(in: 1...40, using: &random)
    switch Int.random(in: 0..<14, using: &random) {
    case 0:
      return Query(
        sql: "SELECT id FROM Track WHERE \(condition.sql) ORDER BY name, id LIMIT \(limit) OFFSET 3"
      ) {
        try $0.objects(
          of: Track.self, where: filter, orderedBy: [.ascending(\.$name), .ascending(\.$id)],
          limit: limit, offset: 3
        ).map { "\($0.id)" }
      }
    case 1:
      return Query(
        sql:
          "SELECT count(*), count(bytes), count(DISTINCT price) FROM Track WHERE \(condition.sql)"
      ) {
        let found = try $0.fetch(
          Track.where(filter).aggregate(.count, .count(\.$bytes), .distinctCount(\.$price)))
        return ["\(found.0)|\(found.1)|\(found.2)"]
      }
    case 2:
      return Query(
        sql:
          "SELECT ifnull(sum(milliseconds), 0), \(real("avg(bytes)")), ifnull(min(milliseconds), '-'), ifnull(max(bytes), '-') FROM Track WHERE \(condition.sql)"
      ) {
        let found = try $0.fetch(
          Track.where(filter).aggregate(
            .sum(\.$milliseconds), .average(\.$bytes), .min(\.$milliseconds), .max(\.$bytes)))
        return ["\(found.0)|\(fraction(found.1))|\(number(found.2))|\(number(found.3))"]
      }
    case 3:
      return Query(
        sql:
          "SELECT \(sqlCents("ifnull(sum(CAST(price AS REAL)), 0)")), \(sqlCents("max(CAST(price AS REAL))")), \(sqlCents("min(CAST(price AS REAL))")) FROM Track WHERE \(condition.sql)"
      ) {
        let found = try $0.fetch(
          Track.where(filter).aggregate(.sum(\.$price), .max(\.$price), .min(\.$price)))
        return ["\(amountText(found.0))|\(amountText(found.1))|\(amountText(found.2))"]
      }
    case 4:
      return Query(
        sql:
          "SELECT \(bytes(genreName)), count(*), sum(milliseconds) FROM Track WHERE \(condition.sql) GROUP BY \(genreName) ORDER BY \(genreName)"
      ) {
        let groups = try $0.fetch(
          Track.where(filter).aggregate(.count, .sum(\.$milliseconds), by: \.$genre.$name))
        return groups.map { "\(text($0.key))|\($0.value.0)|\($0.value.1)" }
      }
    case 5:
      return Query(
        sql:
          "SELECT strftime('%Y', date), count(*), \(sqlCents("sum(CAST(total AS REAL))")) FROM Invoice WHERE CAST(total AS REAL) > \(amount) GROUP BY 1 ORDER BY 1"
      ) {
        let groups = try $0.fetch(
          Invoice.where(\.$total > amount).aggregate(
            .count, .sum(\.$total), by: (\Invoice.$date).year))
        return groups.map { "\(number($0.key))|\($0.value.0)|\(amountText($0.value.1))" }
      }
    case 6:
      return Query(
        sql:
          "SELECT \(bytes("name")), \(bytes(albumTitle)), \(bytes(artistName)) FROM Track WHERE \(condition.sql) ORDER BY \(artistName) DESC, id LIMIT \(limit)"
      ) {
        try $0.fetch(
          Track.where(filter).ordered(by: .descending(\.$album.$artist.$name), .ascending(\.$id))
            .limit(limit).values(\.$name, \.$album.$title, \.$album.$artist.$name)
        ).map { "\(text($0))|\(text($1))|\(text($2))" }
      }
    case 7:
      return Query(
        sql:
          "SELECT id, \(sqlCents("CAST(price AS REAL) * quantity")) FROM Line WHERE CAST(price AS REAL) * quantity > \(amount) ORDER BY CAST(price AS REAL) * quantity DESC, id LIMIT \(limit)"
      ) {
        try $0.fetch(
          Line.where(\Line.$price * \Line.$quantity > amount).ordered(
            by: .descending(\Line.$price * \Line.$quantity), .ascending(\.$id)
          ).limit(limit).values(MagicExpression(\Line.$id), \.$price * \Line.$quantity)
        ).map { "\(number($0))|\(amountText($1))" }
      }
    case 8:
      return Query(
        sql:
          "SELECT c.id, count(i.id) FROM Customer c LEFT JOIN Invoice i ON i.customer = c.id AND CAST(i.total AS REAL) > \(amount) GROUP BY c.id HAVING count(i.id) > 0 ORDER BY count(i.id) DESC, c.id"
      ) {
        let count = (\Customer.$invoices).count { \.$total > amount }
        return try $0.fetch(
          Customer.where((\Customer.$invoices).contains { \.$total > amount }).ordered(
            by: .descending(count), .ascending(\.$id)
          ).values(MagicExpression(\Customer.$id), count)
        ).map { "\(number($0))|\(number($1))" }
      }
    case 9:
      return Query(
        sql:
          "SELECT id, (SELECT \(sqlCents("ifnull(sum(CAST(l.price AS REAL) * l.quantity), 0)")) FROM Line l WHERE l.invoice = Invoice.id) FROM Invoice WHERE id % 9 = \(limit % 9) ORDER BY id"
      ) {
        try $0.fetch(
          Invoice.where(\.$id % 9 == limit % 9).ordered(by: .ascending(\.$id)).values(
            MagicExpression(\Invoice.$id), (\Invoice.$lines).sum(\Line.$price * \Line.$quantity))
        ).map { "\(number($0))|\(amountText($1))" }
      }
    case 10:
      return Query(
        sql:
          "SELECT strftime('%w', date) + 1, CAST(strftime('%H', date) AS INTEGER), count(*) FROM Invoice WHERE CAST(strftime('%m', date) AS INTEGER) < \(limit % 12 + 1) GROUP BY 1, 2 ORDER BY 1, 2"
      ) {
        try $0.fetch(
          Invoice.where((\Invoice.$date).month < limit % 12 + 1).aggregate(
            .count, by: (\Invoice.$date).weekday, (\Invoice.$date).hour)
        ).map { "\(number($0.key.0))|\(number($0.key.1))|\($0.value)" }
      }
    case 11:
      return Query(
        sql:
          "SELECT \(bytes("replace(trim(name), ' ', '_') || '/' || ifnull(composer, '?')")), length(name) FROM Track WHERE \(condition.sql) ORDER BY id LIMIT \(limit)"
      ) {
        let path =
          (\Track.$name).trimmed().replacing(" ", with: "_") + "/" + (\Track.$composer).or("?")
        return try $0.fetch(
          Track.where(filter).ordered(by: .ascending(\.$id)).limit(limit).values(
            path, (\Track.$name).count)
        ).map { "\(text($0))|\(number($1))" }
      }
    case 12:
      return Query(
        sql:
          "SELECT \(real("milliseconds / 60000.0 * rating")), ifnull(bytes / milliseconds, '-') FROM Track WHERE \(condition.sql) ORDER BY rating DESC, id LIMIT \(limit)"
      ) {
        try $0.fetch(
          Track.where(filter).ordered(by: .descending(\.$rating), .ascending(\.$id)).limit(limit)
            .values(
              (\Track.$milliseconds).asDouble() / 60_000 * (\Track.$rating),
              \.$bytes / \Track.$milliseconds)
        ).map { "\(fraction($0))|\(number($1))" }
      }
    default:
      return Query(
        sql:
          "SELECT count(*) FROM Invoice WHERE julianday(date) - julianday('2011-06-01') > \(limit) AND CAST(total AS REAL) BETWEEN 5 AND 15"
      ) {
        let start = Date(timeIntervalSince1970: 1_306_886_400)
        return [
          "\(try $0.fetch(Invoice.where(\Invoice.$date - start > Double(limit) * 86_400 && 5...15 ~= \Invoice.$total).aggregate(.count)))"
        ]
      }
    }
  }

  @Test(.needsShell)
  func `300 queries return the same as the sqlite3 shell`() throws {
    let folder = try TestFolder()
    let magic = try MagicData.at(folder.path + "/shop.sqlite3")
    var random = SplitMix64(seed: 2_009)
    try Self.fill(magic, &random)
    let queries = (0..<300).map { _ in Self.query(&random) }
    let script = queries.map { "SELECT '=====';\n\($0.sql);\n" }.joined()
    let path = folder.path + "/script.sql"
    try script.write(toFile: path, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    process.arguments = ["-batch", folder.path + "/shop.sqlite3", ".read \(path)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    var answers: [[String]] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      if line == "=====" {
        answers.append([])
      } else {
        answers[answers.count - 1].append("\(line)")
      }
    }
    try #require(answers.count == queries.count)
    for (number, (query, answer)) in zip(queries, answers).enumerated() {
      let found = try query.run(magic)
      #expect(found == answer, "query \(number): \(query.sql)")
    }
    #expect(Set(queries.map(\.sql)).count > 250)
    #expect(answers.filter { !$0.isEmpty }.count > 200)
  }
}
