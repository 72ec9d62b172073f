import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// The SQL functions that queries call, tested directly.
@Suite(.everyEngine, .requires(.functions)) struct QueryFunctionTests {
  /// Every function with its number of arguments.
  static let functions: [(name: String, count: Int)] = [
    ("text_lowercased", 1),
    ("text_uppercased", 1),
    ("text_count", 1),
    ("text_trimmed", 1),
    ("date_seconds", 1),
    ("date", 1),
    ("integer_of_text", 1),
    ("real_of_text", 1),
    ("text_of_real", 1),
    ("text_of_float", 1),
    ("float", 1),
    ("decimal_of_text", 1),
    ("decimal_of_real", 1),
    ("real_of_decimal", 1),
    ("integer_of_decimal", 1),
    ("decimal_sum", 1),
    ("decimal_average", 1),
    ("decimal_add", 2),
    ("decimal_subtract", 2),
    ("decimal_multiply", 2),
    ("decimal_divide", 2),
    ("text_prefix", 2),
    ("text_suffix", 2),
    ("percentile", 2),
    ("text_replacing", 3),
  ]

  static let hostile: [Value] = [
    .null, .integer(.min), .integer(-1), .integer(0), .integer(.max), .real(-.infinity),
    .real(-0.0), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(.infinity),
    .text(""),
    .text("\0"), .text("a\0b"), .text("e\u{301}"), .text("\u{D7FF}\u{E000}\u{10FFFF}"),
    .text("'; DROP TABLE t; --"), .text("-"), .text("1e400"), .text("-0"),
    .text(String(repeating: "9", count: 5_000)), .text("0." + String(repeating: "1", count: 200)),
    .text("9999-12-31 23:59:59.9999999"), .text("0000-01-01 00:00:00"), .text("٣"), .blob([]),
    .blob([0xff, 0]),
  ]

  private func call(_ name: String, _ arguments: [Value], _ database: Database) throws -> Value? {
    let sql: SQL =
      "SELECT \(identifier: "magicdata_\(name)")(\(SQL(joining: arguments.map { "\($0)" }, separator: ", ")))"
    return try database.rows(sql, as: Value.self).first
  }

  @Test func `every function returns a value or throws, and returns NULL for NULL`() throws {
    let database = try MagicData.fresh().database
    for (name, count) in Self.functions {
      for first in Self.hostile {
        for second in count > 1 ? Self.hostile : [.null] {
          for third in count > 2 ? Self.hostile : [.null] {
            let arguments = Array([first, second, third].prefix(count))
            let result = try? call(name, arguments, database)
            let isAggregate = ["decimal_sum", "decimal_average", "percentile"].contains(name)
            if !isAggregate, arguments.contains(.null) {
              #expect(result == .some(.null), "\(name) \(arguments)")
            }
          }
        }
      }
      #expect(throws: SQLiteError.self) { try call(name, [], database) }
    }
    // The connection still works.
    #expect(try database.rows("SELECT magicdata_text_count('é')", as: Int.self).first == 1)
  }

  @Test func `text that isn't UTF-8 throws`() throws {
    let database = try MagicData.fresh().database
    for (name, count) in Self.functions {
      let argument = "CAST(x'ff' AS TEXT)"
      let arguments = Array(repeating: argument, count: count).joined(separator: ", ")
      #expect(throws: SQLiteError.self) {
        try database.executeQuery(SQL(unchecked: "SELECT magicdata_\(name)(\(arguments))")).first
      }
    }
  }

  @Test func `readers and writers of every kind of store have the functions`() throws {
    let folder = try TestFolder()
    let stores = [
      try MagicData.fresh(), try MagicData.fresh(.temporary),
      try MagicData.at(folder.path + "/store"),
    ]
    for magic in stores {
      let sql: SQL = "SELECT magicdata_decimal_add('0.1', '0.2')"
      #expect(try magic.database.read { try $0.firstRow(sql, as: String.self) } == "0.3")
      #expect(try magic.database.write { try $0.firstRow(sql, as: String.self) } == "0.3")
    }
  }

  @Test func `prepareConnection runs after the functions were added and may call them`() throws {
    let folder = try TestFolder()
    var options = Database.Options()
    options.prepareConnection = { connection in
      #expect(
        try connection.firstRow("SELECT magicdata_text_uppercased('é')", as: String.self) == "É")
      try connection.addFunction("own") { 1 }
    }
    let magic = try MagicData.at(folder.path + "/store", options: options)
    #expect(try magic.database.rows("SELECT own()", as: Int.self).first == 1)
  }

  @Test func `sums of decimals are exact in any order`() throws {
    let database = try MagicData.fresh().database
    var random = SplitMix64(seed: 18)
    for round in 0..<60 {
      // Few digits, which are added as integers, many digits, which aren't, and both.
      let digits = [1...9, 19...30, 1...30][round % 3]
      var numbers = (0..<50).map { _ in
        let text = (0..<Int.random(in: digits, using: &random)).map { _ in
          "\(Int.random(in: 0...9, using: &random))"
        }.joined()
        return Decimal(
          sign: Bool.random(using: &random) ? .plus : .minus,
          exponent: -Int.random(in: 0...min(6, digits.upperBound), using: &random),
          significand: Decimal(string: text) ?? 0)
      }
      let expected = numbers.reduce(0, +)
      for _ in 0..<2 {
        let values: [Value] = try numbers.map { try $0.databaseValue } + [.null]
        let sum = try database.rows(
          "SELECT magicdata_decimal_sum(value) FROM \(values)",
          as: Decimal.self
        ).first
        #expect(sum == expected)
        let average = try database.rows(
          "SELECT magicdata_decimal_average(value) FROM \(values)",
          as: Decimal.self
        ).first
        #expect(average == expected / 50)
        numbers.shuffle(using: &random)
      }
    }
  }
}
