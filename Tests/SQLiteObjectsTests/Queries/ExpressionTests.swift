import Conformance
import Foundation
import MagicData
import Testing

/// Tests that every operator and function of expressions returns the same as the equivalent Swift
/// closure, for edge values of each type.
@Suite(.everyEngine) struct ExpressionTests {
  struct Edge: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var a: Int
    @MagicValue var b: Int
    @MagicValue var x: Double
    @MagicValue var y: Double
    @MagicValue var f: Float
    @MagicValue var g: Float
    @MagicValue var p: Decimal
    @MagicValue var q: Decimal
    @MagicValue var s: String
    @MagicValue var t: String
    @OptionalMagicValue var k: Int?
    @OptionalMagicValue var n: String?
    @OptionalMagicValue var r: Decimal?

    init() {
      (a, b, x, y, f, g, p, q, s, t) = (0, 0, 0, 0, 0, 0, 0, 0, "", "")
    }
  }

  struct Row {
    var a: Int
    var b: Int
    var x: Double
    var y: Double
    var f: Float
    var g: Float
    var p: Decimal
    var q: Decimal
    var s: String
    var t: String
    var k: Int?
    var n: String?
    var r: Decimal?
  }

  static let integers: [Int] = [
    .min, .min + 1, -4_294_967_297, -7, -2, -1, 0, 1, 2, 3, 9_007_199_254_740_993, .max - 1, .max,
  ]
  static let reals: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -9.3e18, -1e15, -2.5, -0.1, -0.0, 0,
    .leastNonzeroMagnitude, .leastNormalMagnitude, 0.1, 0.3, 1, 7, 9.3e18, 1e300,
    .greatestFiniteMagnitude, .infinity,
  ]
  static let floats: [Float] = [
    -.infinity, -.greatestFiniteMagnitude, -0.1, -0.0, 0, .leastNonzeroMagnitude, 0.1, 0.7, 1,
    16_777_216, .greatestFiniteMagnitude, .infinity,
  ]
  static let decimals: [Decimal] = [
    "-99999999999999999999999999999999999999", "-12.5", "-1", "-0.1", "0",
    "0.0000000000000000000000000000000001", "0.1", "0.99", "1", "1.005", "9", "10",
    "12345678901234567890.123456789012345678", "99999999999999999999999999999999999999",
  ].compactMap { Decimal(string: $0) }
  static let texts: [String] = [
    "", "\0", "a\0b", "A", "a", "aAa", "É", "é", "e\u{301}", "ß", "İ", "ǆ", " a ",
    "\t\u{a0}x y\u{2003}\n",
    "\r\n", "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "👨‍👩‍👧🇨🇭", "%_'\"\\", "'; DROP TABLE Edge; --",
    "x'00'",
    "12", "-9223372036854775808", "9223372036854775808", "+5", "1e3", "12.50", "nan", "٣",
  ]

  static let rows: [Row] = (0..<900).map { index in
    func pick<Element>(_ list: [Element]) -> Element { list[index % list.count] }
    func other<Element>(_ list: [Element]) -> Element { list[index / list.count % list.count] }
    return Row(
      a: pick(integers), b: other(integers), x: pick(reals), y: other(reals), f: pick(floats),
      g: other(floats), p: pick(decimals), q: other(decimals), s: pick(texts), t: other(texts),
      k: index % 3 == 0 ? nil : pick(integers), n: index % 3 == 1 ? nil : other(texts),
      r: index % 3 == 2 ? nil : pick(decimals))
  }

  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update(
      Self.rows.enumerated().map { index, row in
        let edge = Edge()
        edge.id = index + 1
        (edge.a, edge.b, edge.x, edge.y, edge.f, edge.g) = (
          row.a, row.b, row.x, row.y, row.f, row.g
        )
        (edge.p, edge.q, edge.s, edge.t) = (row.p, row.q, Engine.text(row.s), Engine.text(row.t))
        (edge.k, edge.n, edge.r) = (row.k, row.n.map(Engine.text), row.r)
        return edge
      })
  }

  /// Expects the value that the closure returns for each row. Compares strings by their bytes.
  private func expect<Element: Codable & Equatable & SendableMetatype>(
    _ expression: MagicExpression<Edge, Element>, _ line: Int = #line, _ swift: (Row) -> Element?
  ) throws {
    let found = try magic.fetch(Edge.ordered(by: .ascending(\.$id)).values(expression))
    #expect(found.count == Self.rows.count)
    for (row, value) in zip(Self.rows, found) {
      let expected = swift(row)
      if let one = value as? String, let other = expected as? String {
        #expect(one.utf8.elementsEqual(other.utf8), "line \(line): \(row)")
      } else {
        #expect(value == expected, "line \(line): \(row)")
      }
    }
  }

  private func expect(
    where filter: Filter<Edge>, _ line: Int = #line, _ holds: (Row) -> Bool
  ) throws {
    let found = try magic.fetch(Edge.where(filter).values(\.$id)).sorted()
    let expected = Self.rows.indices.filter { holds(Self.rows[$0]) }.map { $0 + 1 }
    #expect(found == expected, "line \(line)")
  }

  private func bytesAreLess(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }

  @Test func `integer arithmetic uses 64 bits and becomes real on overflow`() throws {
    func real(_ result: (partialValue: Int, overflow: Bool), _ real: Double) -> Double {
      result.overflow ? real : Double(result.partialValue)
    }
    try expect((\Edge.$a + \Edge.$b).asDouble()) {
      real($0.a.addingReportingOverflow($0.b), Double($0.a) + Double($0.b))
    }
    try expect((\Edge.$a - \Edge.$b).asDouble()) {
      real($0.a.subtractingReportingOverflow($0.b), Double($0.a) - Double($0.b))
    }
    try expect((\Edge.$a * \Edge.$b).asDouble()) {
      real($0.a.multipliedReportingOverflow(by: $0.b), Double($0.a) * Double($0.b))
    }
    try expect((\Edge.$a / \Edge.$b).asDouble()) {
      if $0.b == 0 { return nil }
      return real($0.a.dividedReportingOverflow(by: $0.b), Double($0.a) / Double($0.b))
    }
    try expect(\Edge.$a % \Edge.$b) {
      $0.b == 0 ? nil : $0.a.remainderReportingOverflow(dividingBy: $0.b).partialValue
    }
    try expect(\Edge.$a / 2 + 1) { $0.a / 2 + 1 }
    try expect(7 / (\Edge.$b)) { $0.b == 0 ? nil : 7 / $0.b }
    try expect(1 - \Edge.$k / 2) { $0.k.map { 1 - $0 / 2 } }
  }

  @Test func `an integer that overflows throws when it is read`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try magic.fetch(Edge.all.values(\.$a + \Edge.$b))
    }
    #expect(error?.sql?.contains(#""Edge"."a" + "Edge"."b""#) == true)
  }

  @Test func `real arithmetic equals Swift's, and NaN becomes nil`() throws {
    func number(_ value: Double) -> Double? { value.isNaN ? nil : value }
    try expect(\Edge.$x + \Edge.$y) { number($0.x + $0.y) }
    try expect(\Edge.$x - \Edge.$y) { number($0.x - $0.y) }
    try expect(\Edge.$x * \Edge.$y) { number($0.x * $0.y) }
    try expect(\Edge.$x / \Edge.$y) { $0.y == 0 ? nil : number($0.x / $0.y) }
    try expect(2 * (\Edge.$x)) { 2 * $0.x }
    try expect(where: \Edge.$x + \Edge.$y < 1) { $0.x + $0.y < 1 }
    try expect(where: \Edge.$x * \Edge.$y >= 0.03) { $0.x * $0.y >= 0.03 }
  }

  @Test(.requires(.functions)) func `integers can be combined with reals and decimals`() throws {
    func number(_ value: Double) -> Double? { value.isNaN ? nil : value }
    try expect(\Edge.$x * \Edge.$a) { number($0.x * Double($0.a)) }
    try expect(\Edge.$a * \Edge.$x) { number(Double($0.a) * $0.x) }
    try expect(\Edge.$x + \Edge.$a) { number($0.x + Double($0.a)) }
    try expect(\Edge.$x - \Edge.$a) { number($0.x - Double($0.a)) }
    try expect(\Edge.$a - \Edge.$x) { number(Double($0.a) - $0.x) }
    try expect(\Edge.$a / \Edge.$x) { $0.x == 0 ? nil : number(Double($0.a) / $0.x) }
    try expect(\Edge.$x / \Edge.$a) { $0.a == 0 ? nil : number($0.x / Double($0.a)) }
    try expect((\Edge.$x + 1) * \Edge.$a) { number(($0.x + 1) * Double($0.a)) }
    try expect(\Edge.$q * (\Edge.$a % 10)) { $0.q * Decimal($0.a % 10) }
    try expect((\Edge.$a % 10) + \Edge.$q) { Decimal($0.a % 10) + $0.q }
    try expect(where: \.$x * \.$a > 1) { $0.x * Double($0.a) > 1 }
  }

  @Test(.requires(.functions)) func `Float arithmetic has single precision`() throws {
    func number(_ value: Float) -> Float? { value.isNaN ? nil : value }
    try expect(\Edge.$f + \Edge.$g) { number($0.f + $0.g) }
    try expect(\Edge.$f - \Edge.$g) { number($0.f - $0.g) }
    try expect(\Edge.$f * \Edge.$g) { number($0.f * $0.g) }
    try expect(\Edge.$f / \Edge.$g) { $0.g == 0 ? nil : number($0.f / $0.g) }
    try expect((\Edge.$f).asString()) { "\($0.f == 0 ? 0 : $0.f)" }
  }

  @Test(.requires(.functions)) func `decimal arithmetic equals Swift's`() throws {
    try expect(\Edge.$p + \Edge.$q) { $0.p + $0.q }
    try expect(\Edge.$p - \Edge.$q) { $0.p - $0.q }
    try expect(\Edge.$p * \Edge.$q) { $0.p * $0.q }
    try expect(\Edge.$p / \Edge.$q) { $0.q.isZero ? nil : $0.p / $0.q }
    try expect(\Edge.$p * 2 + 1) { $0.p * 2 + 1 }
    try expect(\Edge.$r + 1) { $0.r.map { $0 + 1 } }
    try expect(where: \Edge.$p * \Edge.$q > 1) { $0.p * $0.q > 1 }
  }

  @Test(.requires(.collations)) func `decimals are compared as numbers`() throws {
    for value in Self.decimals {
      try expect(where: \.$p < value) { $0.p < value }
      try expect(where: \.$p <= value) { $0.p <= value }
      try expect(where: \.$p > value) { $0.p > value }
      try expect(where: \.$p >= value) { $0.p >= value }
      try expect(where: \.$p == value) { $0.p == value }
      try expect(where: \.$r != value) { $0.r != value }
      try expect(where: value...(value + 10) ~= \.$p) { value...(value + 10) ~= $0.p }
    }
    try expect(where: \.$p < \.$q) { $0.p < $0.q }
    try expect(where: \.$p == \.$q) { $0.p == $0.q }
    try expect(where: (\Edge.$p).isIn(Self.decimals.prefix(3))) {
      Self.decimals.prefix(3).contains($0.p)
    }
    let sorted = try magic.fetch(Edge.ordered(by: .descending(\.$p)).values(\.$p))
    #expect(sorted == Self.rows.map(\.p).sorted(by: >))
    let byProduct = try magic.fetch(
      Edge.ordered(by: .ascending(\Edge.$p * \Edge.$q)).values(\.$p * \Edge.$q))
    #expect(byProduct == Self.rows.map { $0.p * $0.q }.sorted())
  }

  @Test(.requires(.functions)) func `aggregates of decimals are decimals`() throws {
    let small = Self.rows.filter { $0.p.magnitude < 1_000 }.map(\.p)
    let filter: Filter<Edge> = -1_000...1_000 ~= \.$p
    #expect(try magic.fetch(Edge.where(filter).aggregate(.sum(\.$p))) == small.reduce(0, +))
    #expect(
      try magic.fetch(Edge.where(filter).aggregate(.sum(\Edge.$p * 3)))
        == small.reduce(0) { $0 + $1 * 3 })
    let average: Decimal? = try magic.fetch(Edge.where(filter).aggregate(.average(\.$p)))
    #expect(average == small.reduce(0, +) / Decimal(small.count))
    #expect(try magic.fetch(Edge.all.aggregate(.min(\.$p))) == Self.decimals.min())
    #expect(try magic.fetch(Edge.all.aggregate(.max(\.$p))) == Self.decimals.max())
    let sorted = small.sorted()
    let median: Decimal? = try magic.fetch(Edge.where(filter).aggregate(.median(\.$p)))
    let middle = sorted.count / 2
    let expected =
      sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    #expect(median == expected)
    // The sum of numbers with 38 digits is no longer exact.
    #expect(throws: SQLiteError.self) { try magic.fetch(Edge.all.aggregate(.sum(\.$p))) }
    #expect(try magic.fetch(Edge.where(\.$id < 0).aggregate(.sum(\.$p))) == 0)
  }

  @Test(.requires(.functions)) func `string functions equal Swift's`() throws {
    try expect((\Edge.$s).lowercased()) { $0.s.lowercased() }
    try expect((\Edge.$s).uppercased()) { $0.s.uppercased() }
    try expect((\Edge.$s).count) { $0.s.count }
    try expect((\Edge.$s).trimmed()) { $0.s.trimmingCharacters(in: .whitespacesAndNewlines) }
    for count in [0, 1, 2, 100, Int.max] {
      try expect((\Edge.$s).prefix(count)) { String($0.s.prefix(count)) }
      try expect((\Edge.$n).suffix(count)) { $0.n.map { String($0.suffix(count)) } }
    }
    #expect(throws: SQLiteError.self) { try magic.fetch(Edge.all.values((\Edge.$s).prefix(-1))) }
    #expect(throws: SQLiteError.self) { try magic.fetch(Edge.all.values((\Edge.$s).suffix(.min))) }
    try expect(\Edge.$s + \Edge.$t) { $0.s + $0.t }
    try expect(\Edge.$n + "/" + \Edge.$t) { row in row.n.map { $0 + "/" + row.t } }
    try expect("<" + (\Edge.$s).lowercased() + ">") { "<" + $0.s.lowercased() + ">" }
    for row in Self.texts {
      try expect((\Edge.$s).replacing(row, with: "<\0>")) { replaced($0.s, row, "<\0>") }
    }
  }

  /// Returns `text` with every occurrence of `part` replaced. Compares bytes.
  private func replaced(_ text: String, _ part: String, _ replacement: String) -> String {
    if part.isEmpty { return text }
    var (bytes, result) = (Array(text.utf8)[...], [UInt8]())
    while !bytes.isEmpty {
      if bytes.starts(with: part.utf8) {
        result += replacement.utf8
        bytes = bytes.dropFirst(part.utf8.count)
      } else {
        result.append(bytes.removeFirst())
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  @Test(.requires(.functions)) func `hostile strings can be used as operands`() throws {
    for text in Self.texts {
      try expect(where: \.$s == text) { $0.s.utf8.elementsEqual(text.utf8) }
      try expect(where: \.$n != text) { $0.n.map { !$0.utf8.elementsEqual(text.utf8) } ?? true }
      try expect(where: \.$s < text) { bytesAreLess($0.s, text) }
      try expect(where: (\Edge.$s).isIn([text])) { $0.s.utf8.elementsEqual(text.utf8) }
      try expect(where: (\Edge.$s).hasPrefix(text)) { $0.s.utf8.starts(with: text.utf8) }
      try expect(where: (\Edge.$s).hasSuffix(text)) {
        $0.s.utf8.reversed().starts(with: text.utf8.reversed())
      }
      try expect(where: (\Edge.$n).hasSuffix(text)) {
        $0.n.map { $0.utf8.reversed().starts(with: text.utf8.reversed()) } ?? false
      }
      try expect(where: (\Edge.$s).contains(text)) {
        text.isEmpty || Data($0.s.utf8).range(of: Data(text.utf8)) != nil
      }
      try expect(where: (\Edge.$s).lowercased() == text) {
        $0.s.lowercased().utf8.elementsEqual(text.utf8)
      }
      try expect((\Edge.$n).or(text)) { $0.n ?? text }
      try expect(\Edge.$s + text) { $0.s + text }
      try expect(.when(\.$s == text, then: text, else: \Edge.$t)) {
        $0.s.utf8.elementsEqual(text.utf8) ? text : $0.t
      }
    }
  }

  @Test func `the functions or and when return the same as ?? and if in Swift`() throws {
    try expect((\Edge.$k).or(5)) { $0.k ?? 5 }
    try expect((\Edge.$k).or(\.$b)) { $0.k ?? $0.b }
    try expect((\Edge.$k % 7).or(\Edge.$b % 7)) { ($0.k.map { $0 % 7 }) ?? ($0.b % 7) }
    try expect((\Edge.$r).or(\.$q)) { $0.r ?? $0.q }
    try expect(
      .when(\.$a > 0, then: "positive", else: .when(\.$a == 0, then: "zero", else: "negative"))
    ) {
      $0.a > 0 ? "positive" : $0.a == 0 ? "zero" : "negative"
    }
    try expect(.when(\.$k > 0, then: \Edge.$a, else: \Edge.$b)) { ($0.k ?? 0) > 0 ? $0.a : $0.b }
    try expect(.when(\.$a > 0 || \.$n == nil, then: \Edge.$p, else: 0)) {
      $0.a > 0 || $0.n == nil ? $0.p : 0
    }
    try expect(.when(\.$a > 0, then: \Edge.$x)) { $0.a > 0 ? $0.x : nil }
    var names: MagicExpression<Edge, Int> = .when(\.$a == -1, then: -1, else: \Edge.$b)
    // A cluster's node accepts at most 255 values in a statement, and each choice binds two.
    let count = Engine.current == .local ? 300 : 100
    for number in 0..<count { names = .when(\.$a == number, then: number * 2, else: names) }
    try expect(names) { 0..<count ~= $0.a ? $0.a * 2 : $0.a == -1 ? -1 : $0.b }
    try expect(where: (\Edge.$k).or(0) == 0) { ($0.k ?? 0) == 0 }
    try expect(where: \Edge.$k % 2 == nil) { $0.k == nil }
    try expect(where: \Edge.$k % 2 != nil) { $0.k != nil }
  }

  @Test(.requires(.functions)) func `conversions equal Swift's initializers`() throws {
    try expect((\Edge.$a).asDouble()) { Double($0.a) }
    try expect((\Edge.$a).asDecimal()) { Decimal($0.a) }
    try expect((\Edge.$a).asString()) { String($0.a) }
    try expect((\Edge.$x).asInt()) { row in
      row.x >= 9.3e18 ? .max : row.x <= -9.3e18 ? .min : Int(row.x)
    }
    try expect((\Edge.$x).asString()) { "\($0.x == 0 ? 0 : $0.x)" }
    try expect((\Edge.$x).asDecimal()) { row in
      let decimal = row.x.isFinite ? Decimal(string: "\(row.x)") : nil
      return decimal.flatMap { $0.isNaN ? nil : $0 }
    }
    try expect((\Edge.$p).asDouble()) { Double($0.p.description) }
    try expect((\Edge.$p).asString()) { $0.p.description }
    try expect((\Edge.$p).asInt()) { row in
      row.p.magnitude < 1e18 ? Int(truncating: row.p as NSDecimalNumber) : nil
    }
    try expect((\Edge.$s).asInt()) { Int($0.s) }
    try expect((\Edge.$s).asDouble()) { Double($0.s).flatMap { $0.isNaN ? nil : $0 } }
    try expect((\Edge.$s).asDecimal()) { row in
      let isPlain = !row.s.isEmpty && row.s.utf8.allSatisfy { "-.0123456789".utf8.contains($0) }
      return isPlain ? Decimal(string: row.s) : nil
    }
  }
}
