import Foundation
import TestSupport

/// A value of any shape, encoded by synthesized conformances.
indirect enum Tree: Codable, Equatable {
  case none
  case bool(Bool)
  case small(Int8, UInt16)
  case integer(Int64)
  case unsigned(UInt64)
  case wide(Int128)
  case double(Double)
  case float(Float)
  case text(String)
  case data(Data)
  case date(Date)
  case decimal(Decimal)
  case uuid(UUID)
  case list([Tree])
  case lists([[Double]])
  case options([Int?])
  case named([String: Tree])
  case branch(Branch)

  final class Branch: Codable, Equatable {
    let name: String
    let left: Tree
    let right: Tree?
    let words: [String]

    init(name: String, left: Tree, right: Tree?, words: [String]) {
      self.name = name
      self.left = left
      self.right = right
      self.words = words
    }

    static func == (left: Branch, right: Branch) -> Bool {
      left.name == right.name && left.left == right.left && left.right == right.right
        && left.words == right.words
    }
  }
}

extension Tree {
  /// Returns a random value that is at most `depth` levels deep.
  static func random(_ depth: Int, using source: inout SplitMix64) -> Tree {
    switch Int.random(in: 0..<(depth > 0 ? 18 : 13), using: &source) {
    case 0: .none
    case 1: .bool(.random(using: &source))
    case 2:
      .small(.random(in: .min ... .max, using: &source), .random(in: 0 ... .max, using: &source))
    case 3:
      .integer(
        .random(in: .min ... .max, using: &source) >> Int64.random(in: 0...63, using: &source))
    case 4: .unsigned(.random(in: 0 ... .max, using: &source))
    case 5: .wide(.random(in: .min ... .max, using: &source))
    case 6: .double(double(using: &source))
    case 7: .float(Float(double(using: &source)))
    case 8: .text(text(using: &source))
    case 9:
      .data(
        Data(
          (0..<Int.random(in: 0...9, using: &source)).map { _ in
            .random(in: 0...255, using: &source)
          }))
    case 10: .date(date(using: &source))
    case 11: .decimal(Decimal(Int.random(in: -99_999...99_999, using: &source)) / 1_000)
    case 12:
      .uuid(
        UUID(
          uuidString:
            "00000000-0000-4000-8000-\(String(format: "%012x", Int.random(in: 0...999_999, using: &source)))"
        ) ?? UUID())
    case 13: .list(many(using: &source) { random(depth - 1, using: &$0) })
    case 14: .lists(many(using: &source) { many(using: &$0) { double(using: &$0) } })
    case 15:
      .options(
        many(using: &source) { Bool.random(using: &$0) ? nil : .random(in: 0...9, using: &$0) })
    case 16:
      .named(
        Dictionary(
          many(using: &source) { (text(using: &$0), random(depth - 1, using: &$0)) },
          uniquingKeysWith: { first, _ in first }))
    default:
      .branch(
        Branch(
          name: text(using: &source), left: random(depth - 1, using: &source),
          right: Bool.random(using: &source) ? nil : random(depth - 1, using: &source),
          words: many(using: &source) { text(using: &$0) }))
    }
  }

  private static func many<Element>(
    using source: inout SplitMix64, _ make: (inout SplitMix64) -> Element
  ) -> [Element] {
    let count = Bool.random(using: &source) ? 0...3 : 0...20
    return (0..<Int.random(in: count, using: &source)).map { _ in make(&source) }
  }

  private static func double(using source: inout SplitMix64) -> Double {
    switch Int.random(in: 0...5, using: &source) {
    case 0:
      return [
        0.0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1,
      ].randomElement(using: &source) ?? 0
    case 1: return Double(Int.random(in: -1_000_000...1_000_000, using: &source)) / 1_000
    case 2: return Double(Int.random(in: -9...9, using: &source))
    default:
      let any = Double(bitPattern: .random(in: 0 ... .max, using: &source))
      return any.isNaN ? 1 : any
    }
  }

  private static func date(using source: inout SplitMix64) -> Date {
    switch Int.random(in: 0...4, using: &source) {
    case 0: return Date(timeIntervalSinceReferenceDate: .random(in: -7e10...3e11, using: &source))
    case 1: return Date(timeIntervalSinceReferenceDate: .random(in: -2...2, using: &source))
    case 2:
      return Date(
        timeIntervalSince1970: Double(Int.random(in: -9_999_999...9_999_999_999, using: &source)))
    case 3: return Date(timeIntervalSinceReferenceDate: double(using: &source))
    default: return Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &source))
    }
  }

  static func text(using source: inout SplitMix64) -> String {
    let pieces: [String] = [
      "a", "name", " ", ",", "]", "[", "<", ">", "@obj", "@array[", "`", "&", "&01;", "&00;",
      "&u41;",
      "=", "%", "!", "$", "^", "*", "?", "#", "~", ":", "\u{0}", "\n", "\r\n", "\t", "\u{7f}", "é",
      "e\u{301}", "\u{301}", "日本", "👩‍👩‍👧", "\u{202e}", "\u{feff}", "\u{10ffff}", "<null>", "true",
      "12",
    ]
    return (0..<Int.random(in: 0...6, using: &source))
      .map { _ in pieces.randomElement(using: &source) ?? "" }.joined()
  }
}
