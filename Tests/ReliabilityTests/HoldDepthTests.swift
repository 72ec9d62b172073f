import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

private struct Number: MagicObject {
  @MagicValue var x: Int
  @MagicValue var others: [Number]
  init() { others = [] }

  static func make(_ x: Int) -> Number {
    let number = Number()
    number.x = x
    return number
  }
}

/// Tests deep filters and expressions, like loops build them. Each case runs in its own process, on
/// a thread with a small stack.
@Suite struct HoldDepthTests {
  private typealias Numbers = Filter<Number>

  /// Runs `body` with a store of the numbers 0 to 9 on a thread with 384 KiB of stack, less than
  /// secondary threads have on Apple platforms. The rest of their stack is for the library's
  /// callers.
  private static func run(_ body: @escaping @Sendable (MagicData) throws -> Void) throws {
    try onSmallStack(kibibytes: 384) {
      let magic = try MagicData(type: .memory)
      try magic.update((0..<10).map(Number.make))
      try body(magic)
    }
  }

  private static func throwsTooBig(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch let error as SQLiteError {
      return error.code == .tooBig && error.message.contains("400 levels")
    } catch {
      return false
    }
  }

  @Test func `a hundred thousand conditions with one operator aren't nested`() async {
    await #expect(processExitsWith: .success) {
      try HoldDepthTests.run { (magic: MagicData) throws in
        var any: Numbers = \.$x == 0
        var prefixed: Numbers = \.$x == 0
        var all: Numbers = \.$x != 100
        for number in 1..<100_000 {
          any = any || \.$x == number * 3
          prefixed = \.$x == number * 5 || prefixed
          if number < 5_000 { all = all && \.$x != 100 + number }
        }
        #expect(try magic.objects(of: Number.self, where: any).map(\.x).sorted() == [0, 3, 6, 9])
        #expect(try magic.objects(of: Number.self, where: prefixed).map(\.x).sorted() == [0, 5])
        #expect(try magic.count(of: Number.self, where: all && any) == 4)
        #expect(try magic.count(of: Number.self, where: !(any || prefixed)) == 5)
      }
    }
  }

  @Test func `a hundred thousand raw conditions are written and released`() async {
    await #expect(processExitsWith: .success) {
      try HoldDepthTests.run { (magic: MagicData) throws in
        var filter = Numbers(sql: "x = 0")
        for number in 1..<100_000 {
          filter = filter || Numbers(sql: "\(SQL(unchecked: "x = \(number * 3)"))")
          // SQLite's compiler needs quadratic time, so it gets only some of the conditions.
          if number == 2_000 {
            #expect(try magic.count(of: Number.self, where: filter) == 4)
          }
        }
        #expect(try filter.sql(in: magic).text.utf8.count > 1_000_000)
      }
    }
  }

  @Test func `nesting above the limit throws an error that contains the limit`() async {
    await #expect(processExitsWith: .success) {
      try HoldDepthTests.run { (magic: MagicData) throws in
        // The negation of `==` is `!=`, which adds no level.
        var filters: [Numbers] = [\.$x < 1, \.$x == 1, \.$x == 1]
        var (expression, right) = (\Number.$x + 1, \Number.$x + 1)
        let (one, two): (Numbers, Numbers) = (\.$x == 1, \.$x == 2)
        let less = \Number.$x - 1
        for number in 0..<100_000 {
          filters[0] = !filters[0]
          filters[1] = number % 2 == 0 ? filters[1] && one : filters[1] || two
          if number < 2_000 { filters[2] = (\Number.$others).contains(where: filters[2]) }
          expression = expression + less
          right = less * right
        }
        for filter in filters + [expression == 1, right < 5, !(expression > right)] {
          #expect(
            HoldDepthTests.throwsTooBig { _ = try magic.objects(of: Number.self, where: filter) })
        }
        #expect(
          HoldDepthTests.throwsTooBig {
            _ = try magic.objects(of: Number.self, orderedBy: [.ascending(expression)])
          })
      }
    }
  }

  @Test(arguments: [40, 63, 64, 65, 79, 80, 81, 150, 398])
  func `nesting up to the limit is evaluated or throws, and overflows no stack`(
    levels: Int
  ) async {
    await #expect(processExitsWith: .success) { [levels] in
      try HoldDepthTests.run { (magic: MagicData) throws in
        // The negation of `==` is `!=`, which adds no level.
        var filters: [Numbers] = [\.$x < 1, \.$x == 1, \.$x == 1]
        var (right, chosen) = (\Number.$x + 1, \Number.$x + 1)
        let (one, two): (Numbers, Numbers) = (\.$x == 1, \.$x == 2)
        let less = \Number.$x - 1
        for number in 0..<levels {
          filters[0] = !filters[0]
          filters[1] = number % 2 == 0 ? filters[1] && one : filters[1] || two
          if number % 2 == 0 { filters[2] = (\Number.$others).contains(where: filters[2]) }
          right = less * right
          chosen = .when(one, then: 1, else: chosen)
        }
        for filter in filters + [right < 5, chosen < 5] {
          do {
            _ = try magic.objects(of: Number.self, where: filter)
          } catch let error as SQLiteError {
            // Either this library or SQLite's parser throws.
            #expect(error.code == .tooBig || error.message.contains("overflow"))
          }
        }
      }
    }
  }

  @Test func `moderate nesting is evaluated`() async {
    await #expect(processExitsWith: .success) {
      try HoldDepthTests.run { (magic: MagicData) throws in
        var sum = \Number.$x + 0
        for _ in 0..<300 { sum = sum + 1 }
        #expect(try magic.objects(of: Number.self, where: sum == 305).map(\.x) == [5])
        var filter: Numbers = \.$x == 5
        // SQLite's parser has its own stack of 100 entries.
        for _ in 0..<40 { filter = !filter }
        #expect(try magic.objects(of: Number.self, where: filter).map(\.x) == [5])
      }
    }
  }

  @Test func `filters that extend one filter keep their own conditions`() throws {
    let magic = try MagicData(type: .memory)
    try magic.update((0..<10).map(Number.make))
    func found(_ filter: Numbers) throws -> [Int] {
      try magic.objects(of: Number.self, where: filter).map(\.x).sorted()
    }
    let base: Numbers = \.$x == 1 || \.$x == 2
    let (one, other) = (base || \.$x == 3, base || \.$x == 4)
    let (front, both) = (\.$x == 0 || base, one || other)
    #expect(try found(base) == [1, 2])
    #expect(try found(one) == [1, 2, 3])
    #expect(try found(other) == [1, 2, 4])
    #expect(try found(front) == [0, 1, 2])
    #expect(try found(both) == [1, 2, 3, 4])
    // Many threads extend one filter concurrently.
    let failures = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var filter = base
      for number in 0..<200 { filter = filter || \.$x == 1_000 * thread + number }
      let text = try? filter.sql(in: magic)
      let expected = [1, 2] + (0..<200).map { 1_000 * thread + $0 }
      let found = (try? magic.count(of: Number.self, where: filter)) ?? -1
      if text == nil || found != Set(expected).intersection(0..<10).count {
        failures.withLock { $0.append(thread) }
      }
    }
    #expect(failures.withLock { $0 } == [])
  }
}
