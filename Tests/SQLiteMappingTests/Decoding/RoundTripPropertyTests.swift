import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

/// A record with a property of every kind of value.
private struct Everything: Record, Equatable {
  struct Inner: Codable, Equatable {
    var real: Double
    var text: String?
    var when: Date
    var list: [UInt64]
  }
  enum Kind: String, Codable, CaseIterable { case a, b = "B b" }

  var id: Int
  var i8: Int8
  var i16: Int16
  var i32: Int32
  var i64: Int64
  var u8: UInt8
  var u32: UInt32
  var u64: UInt64
  var flag: Bool
  var real: Double
  var float: Float
  var text: String
  var when: Date
  var data: Data
  var uuid: UUID
  var decimal: Decimal
  var url: URL
  var duration: Duration
  var kind: Kind
  var inner: Inner
  var maybe: Inner?
  var maybeText: String?
  var maybeReal: Double?
}

extension Everything {
  init(id: Int, using random: inout SplitMix64, _ dates: inout DateSource) {
    func text() -> String {
      let scalars: [UInt32] = [0, 9, 34, 39, 92, 97, 233, 769, 8238, 26085, 128690, 0x10FFFF]
      let count = Int.random(in: 0...12, using: &random)
      return Engine.text(
        String(
          String.UnicodeScalarView(
            (0..<count).compactMap { _ in
              scalars.randomElement(using: &random).flatMap(Unicode.Scalar.init)
            })))
    }
    func double() -> Double {
      while true {
        let real = Double(bitPattern: random.next())
        // SQLite stores -0.0 as 0.0, which is equal.
        if real.isFinite { return real }
      }
    }
    func float() -> Float {
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      return float.isFinite ? float : 0
    }
    func inner() -> Inner {
      Inner(
        real: double(), text: Bool.random(using: &random) ? nil : text(), when: dates.next(),
        list: (0..<Int.random(in: 0...3, using: &random)).map { _ in random.next() })
    }
    self.init(
      id: id, i8: .random(in: .min ... .max, using: &random),
      i16: .random(in: .min ... .max, using: &random),
      i32: .random(in: .min ... .max, using: &random),
      i64: .random(in: .min ... .max, using: &random),
      u8: .random(in: .min ... .max, using: &random),
      u32: .random(in: .min ... .max, using: &random), u64: random.next() >> 1,
      flag: .random(using: &random), real: double(), float: float(), text: text(),
      when: dates.next(),
      data: Data(
        (0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8(random.next() & 255) }),
      uuid: UUID(),
      decimal: Decimal(
        sign: .minus, exponent: Int.random(in: -9...9, using: &random),
        significand: Decimal(random.next() >> 8)),
      url: URL(string: "https://example.org/\(random.next())?q=%20#f") ?? URL(filePath: "/"),
      duration: .seconds(Int64(truncatingIfNeeded: random.next()) >> 20)
        + .nanoseconds(Int64(random.next() >> 40)),
      kind: Kind.allCases.randomElement(using: &random) ?? .a, inner: inner(),
      maybe: Bool.random(using: &random) ? nil : inner(),
      maybeText: Bool.random(using: &random) ? nil : text(),
      maybeReal: Bool.random(using: &random) ? nil : double())
  }
}

@Suite(.everyEngine) struct RoundTripPropertyTests {
  @Test func `10,000 records with values of every kind are fetched unchanged`() throws {
    var random = SplitMix64(seed: 1)
    var dates = DateSource(seed: 2)
    let rows = (0..<10_000).map { Everything(id: $0, using: &random, &dates) }
    let database = try Database.fresh()
    try database.write { try $0.insert(contentsOf: rows) }
    var next = 0
    try database.read {
      // The cluster may run a read again.
      next = 0
      try $0.forEach(Everything.ordered(by: .column("id"))) { row in
        // Compares text byte by byte, because `==` ignores canonically equivalent spellings.
        #expect(row == rows[next] && row.text.utf8.elementsEqual(rows[next].text.utf8))
        next += 1
      }
    }
    #expect(next == rows.count)
  }
}
