import Foundation
import SPON

/// A benchmark that compares SPON with Foundation's JSON on the same values. The runs alternate,
/// and the best of nine counts.
enum Codecs {
  struct Address: Codable {
    var street: String
    var city: String
    var zip: String
    var floor: Int?
  }

  struct Person: Codable {
    var id: Int
    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool
    var note: String?
    var tags: [String]
    var address: Address
    var marks: [Int]
  }

  enum Shape: Codable {
    case circle(radius: Double)
    case line(Int, Int)
    case none
  }

  static func measure() throws {
    var source = Source(state: 1)
    func word() -> String {
      String(
        (0..<Int.random(in: 3...14, using: &source)).map { _ in
          "abcdefghij klmnop".randomElement(using: &source) ?? "a"
        })
    }
    let people = (0..<10_000).map { id in
      Person(
        id: id, name: word(), email: word() + "@example.org", age: id % 99,
        score: .random(in: 0...1_000, using: &source), isActive: id % 3 == 0,
        note: id % 2 == 0 ? word() : nil, tags: (0..<3).map { _ in word() },
        address: Address(street: word(), city: word(), zip: "12345", floor: id % 2 == 0 ? 3 : nil),
        marks: (0..<5).map { $0 * id })
    }
    try compare("people", people)
    try compare("integers", (0..<200_000).map { $0 * 7_919 })
    try compare("reals", (0..<100_000).map { _ in Double.random(in: -1...1, using: &source) })
    try compare("texts", (0..<100_000).map { _ in word() })
    try compare(
      "long texts", (0..<200).map { _ in (0..<2_000).map { _ in word() }.joined(separator: " ") })
    try compare(
      "dictionary", Dictionary(uniqueKeysWithValues: (0..<30_000).map { ("key\($0)", $0) }))
    try compare(
      "enums",
      (0..<20_000).map {
        $0 % 3 == 0 ? Shape.circle(radius: 1.5) : $0 % 3 == 1 ? .line($0, 2) : .none
      })
  }

  private static func compare<Value: Codable>(_ name: String, _ value: Value) throws {
    let json = try JSONEncoder().encode(value)
    let spon = try SPONEncoder().encode(value)
    var best = [Double](repeating: .infinity, count: 4)
    for _ in 0..<9 {
      best[0] = min(
        best[0], try PortableBenchmarks.milliseconds { _ = try JSONEncoder().encode(value) })
      best[1] = min(
        best[1], try PortableBenchmarks.milliseconds { _ = try SPONEncoder().encode(value) })
      best[2] = min(
        best[2],
        try PortableBenchmarks.milliseconds { _ = try JSONDecoder().decode(Value.self, from: json) }
      )
      best[3] = min(
        best[3],
        try PortableBenchmarks.milliseconds { _ = try SPONDecoder().decode(Value.self, from: spon) }
      )
    }
    print(
      String(
        format: "%@: encoding takes %.2f of JSON's time (%.1f ms), decoding %.2f (%.1f ms)", name,
        best[1] / best[0], best[1], best[3] / best[2], best[3]))
  }

  struct Source: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
