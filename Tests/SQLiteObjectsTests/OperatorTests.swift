import Conformance
import MagicData
import Testing

/// Tests that each operator means the same as in Swift, between columns, values and expressions.
@Suite(.everyEngine) struct OperatorTests {
  struct Point: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var x: Int
    @MagicValue var y: Int

    init() { (x, y) = (0, 0) }

    init(_ id: Int, _ x: Int, _ y: Int) {
      self.id = id
      (self.x, self.y) = (x, y)
    }
  }

  static let points = (0..<25).map { (id: $0 + 1, x: $0 / 5 - 2, y: $0 % 5 - 2) }

  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update(Self.points.map { Point($0.id, $0.x, $0.y) })
  }

  private func expect(
    _ filter: Filter<Point>, _ line: Int = #line, _ fits: (Int, Int) -> Bool
  ) throws {
    let found = try magic.objects(of: Point.self, where: filter).map(\.id).sorted()
    let expected = Self.points.filter { fits($0.x, $0.y) }.map(\.id)
    #expect(found == expected, "line \(line)")
  }

  @Test func `columns are compared with columns`() throws {
    try expect(\.$x < \.$y) { $0 < $1 }
    try expect(\.$x <= \.$y) { $0 <= $1 }
    try expect(\.$x > \.$y) { $0 > $1 }
    try expect(\.$x >= \.$y) { $0 >= $1 }
    try expect(\.$x == \.$y) { $0 == $1 }
    try expect(\.$x != \.$y) { $0 != $1 }
  }

  @Test func `expressions are compared with values and with expressions`() throws {
    let sum = \Point.$x + \Point.$y
    let difference = \Point.$x - \Point.$y
    try expect(sum < 1) { $0 + $1 < 1 }
    try expect(sum <= 1) { $0 + $1 <= 1 }
    try expect(sum > 1) { $0 + $1 > 1 }
    try expect(sum >= 1) { $0 + $1 >= 1 }
    try expect(sum < difference) { $0 + $1 < $0 - $1 }
    try expect(sum <= difference) { $0 + $1 <= $0 - $1 }
    try expect(sum > difference) { $0 + $1 > $0 - $1 }
    try expect(sum >= difference) { $0 + $1 >= $0 - $1 }
    try expect(sum == difference) { $0 + $1 == $0 - $1 }
  }

  @Test func `arithmetic combines columns with values and columns`() throws {
    try expect(\Point.$x + 3 > 2) { x, _ in x + 3 > 2 }
    try expect(\Point.$x - 3 > -4) { x, _ in x - 3 > -4 }
    try expect(\Point.$x * 3 > 2) { x, _ in x * 3 > 2 }
    try expect(\Point.$x / 2 > 0) { x, _ in x / 2 > 0 }
    try expect(\Point.$x * \Point.$y > 1) { $0 * $1 > 1 }
    // Division by zero is NULL, which no comparison matches.
    try expect(\Point.$x / \Point.$y >= 1) { $1 != 0 && $0 / $1 >= 1 }
  }

  @Test func `arithmetic combines expressions with values, columns and expressions`() throws {
    let double = \Point.$x * 2
    let sum = \Point.$x + \Point.$y
    try expect(double + 1 > 2) { x, _ in x * 2 + 1 > 2 }
    try expect(double + \.$y > 2) { $0 * 2 + $1 > 2 }
    try expect(double + sum > 2) { $0 * 2 + ($0 + $1) > 2 }
    try expect(double - 1 > 2) { x, _ in x * 2 - 1 > 2 }
    try expect(double - \.$y > 2) { $0 * 2 - $1 > 2 }
    try expect(double - sum > 2) { $0 * 2 - ($0 + $1) > 2 }
    try expect(sum * 2 > 3) { ($0 + $1) * 2 > 3 }
    try expect(sum * \.$y > 3) { ($0 + $1) * $1 > 3 }
    try expect(sum * sum > 3) { ($0 + $1) * ($0 + $1) > 3 }
    try expect(sum / 2 > 0) { ($0 + $1) / 2 > 0 }
    try expect(sum / \.$y >= 2) { $1 != 0 && ($0 + $1) / $1 >= 2 }
    try expect(double / sum >= 2) { $0 + $1 != 0 && $0 * 2 / ($0 + $1) >= 2 }
  }
}
