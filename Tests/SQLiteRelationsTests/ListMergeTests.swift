import Conformance
import SQLiteCore
import SQLiteRelations
import Testing
import TestSupport

/// Tests of saving a list that other code has changed since it was fetched.
@Suite(.everyEngine) struct ListMergeTests {
  struct Case: CustomTestStringConvertible {
    let base: [Int64]
    let mine: [Int64]
    let others: [Int64]
    let merged: [Int64]

    init(_ base: [Int64], _ mine: [Int64], _ others: [Int64], _ merged: [Int64]) {
      self.base = base
      self.mine = mine
      self.others = others
      self.merged = merged
    }

    var testDescription: String { "\(base) mine \(mine) others \(others)" }
  }

  private func merged(_ merge: Case) throws -> [Int64] {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: merge.others)
    try fixture.database.write { connection in
      try connection.changeList(fixture.table, of: 1, from: merge.base, to: merge.mine)
    }
    return try fixture.targets(of: 1)
  }

  @Test(arguments: [
    // Both append, prepend or insert in the same gap: the elements are in the order of the commits.
    Case([1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 3]),
    Case([1, 2], [3, 1, 2], [4, 1, 2], [4, 3, 1, 2]),
    Case([1, 2], [1, 3, 2], [1, 4, 2], [1, 4, 3, 2]),
    // Both insert, in different places.
    Case([1, 2, 3], [1, 5, 2, 3], [1, 2, 6, 3], [1, 5, 2, 6, 3]),
    // Both insert into an empty list.
    Case([], [1], [2], [2, 1]),
  ])
  func `concurrent insertions are both kept`(merge: Case) throws {
    #expect(try merged(merge) == merge.merged)
  }

  @Test(arguments: [
    Case([1, 2, 3], [1, 3], [1, 2], [1]),
    // Both remove the same element.
    Case([1, 2, 3], [1, 3], [1, 3], [1, 3]),
    // One removes an element next to the insertion of the other.
    Case([1, 2, 3], [1, 2, 9, 3], [1, 2], [1, 2, 9]),
    Case([1, 2, 3], [1, 9, 2, 3], [1, 3], [1, 9, 3]),
    Case([1, 2, 3], [], [1, 4, 2, 3], [4]),
    Case([1, 2, 3], [4], [], [4]),
  ])
  func `an element that either side removed stays removed`(merge: Case) throws {
    #expect(try merged(merge) == merge.merged)
  }

  @Test(arguments: [
    // I remove an element that the others moved.
    Case([1, 2, 3], [1, 2], [3, 1, 2], [1, 2]),
    // I move an element that the others removed.
    Case([1, 2, 3], [3, 1, 2], [1, 2], [1, 2]),
    // Both move the same element: it ends up once, where the later commit moves it.
    Case([1, 2, 3, 4], [4, 1, 2, 3], [1, 4, 2, 3], [4, 1, 2, 3]),
    Case([1, 2, 3], [2, 1, 3], [2, 1, 3], [2, 1, 3]),
    // Both move different elements.
    Case([1, 2, 3, 4, 5], [5, 1, 2, 3, 4], [2, 1, 3, 4, 5], [2, 5, 1, 3, 4]),
    // I move an element, the others append.
    Case([1, 2, 3], [3, 1, 2], [1, 2, 3, 4], [3, 1, 2, 4]),
  ])
  func `an element that either side moved occurs at most once`(merge: Case) throws {
    #expect(try merged(merge) == merge.merged)
  }

  @Test(arguments: [
    // Both insert the same element: the list then contains it twice.
    Case([1], [1, 7], [1, 7], [1, 7, 7]),
    // One removes one of two equal elements, the other inserts next to it.
    Case([7, 1, 7], [7, 1], [7, 1, 7, 2], [7, 1, 2]),
    Case([7, 1, 7], [1, 7], [9, 7, 1, 7], [9, 1, 7]),
    // Both remove the same one of two equal elements.
    Case([7, 7], [7], [7], [7]),
    Case([7, 1, 7, 2], [1, 7, 2, 3], [1, 7, 2], [1, 7, 2, 3]),
    // Both remove one of two equal elements, but not the same one.
    Case([7, 1, 7], [1, 7], [7, 1], [1]),
  ])
  func `two equal elements are merged as two elements`(merge: Case) throws {
    #expect(try merged(merge) == merge.merged)
  }

  @Test func `elements are appended without reading the list`() throws {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: Array(1...40))
    let used = try fixture.database.write { connection in
      let statements = connection.statementCount
      try connection.changeList(
        fixture.table, of: 1, from: Array(1...40), to: Array(1...40) + [1, 50])
      return connection.statementCount - statements
    }
    // Two insertions, and one query for the last position.
    #expect(used == 3)
    #expect(try fixture.targets(of: 1) == Array(1...40) + [1, 50])
  }

  @Test func `repeated insertions at the same index keep the order`() throws {
    let fixture = try LinkFixture(.list)
    var random = SplitMix64(seed: 3)
    var list: [Int64] = []
    for number in 0..<200 {
      let target = Int64(number % 50 + 1)
      // Mostly at one index, so that its gap is used up repeatedly.
      let place = number % 5 == 0 ? Int.random(in: 0...list.count, using: &random) : 1
      try fixture.database.write { connection in
        try connection.insertIntoList(fixture.table, of: 1, [target, 50], at: place)
      }
      list.insert(contentsOf: [target, 50], at: min(place, list.count))
    }
    #expect(try fixture.targets(of: 1) == list)
    try fixture.database.write { try $0.removeLinks(fixture.table, of: 1, to: [50]) }
    #expect(try fixture.targets(of: 1) == list.filter { $0 != 50 })
    try fixture.database.write { try $0.removeLinks(fixture.table, of: 1) }
    #expect(try fixture.targets(of: 1).isEmpty)
  }

  @Test func `an index out of range means the start or the end`() throws {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: [3, 4])
    try fixture.database.write { connection in
      for (target, index) in [(5, Int.min), (6, -1), (7, Int.max), (8, 5)] {
        try connection.insertIntoList(fixture.table, of: 1, [Int64(target)], at: index)
      }
    }
    #expect(try fixture.targets(of: 1) == [6, 5, 3, 4, 7, 8])
  }

  @Test func `sets and dictionaries are merged by key`() throws {
    let sets = try LinkFixture(.set)
    try sets.database.write { connection in
      try connection.setSet(sets.table, of: 1, to: [1, 2, 3, 4])
      // The links after a concurrent change.
      try connection.setSet(sets.table, of: 1, to: [1, 2, 5, 6])
      try connection.changeSet(sets.table, of: 1, from: [1, 2, 3, 4], to: [2, 3, 5, 7])
    }
    #expect(try Set(sets.targets(of: 1)) == [2, 5, 6, 7])
    let keys = try LinkFixture(.dictionary)
    try keys.database.write { connection in
      try connection.setDictionary(
        keys.table, of: 1, to: [.text("a"): 9, .text("b"): 2, .text("n"): 8, .text("d"): 4])
      try connection.changeDictionary(
        keys.table, of: 1, from: [.text("a"): 1, .text("b"): 2, .text("c"): 3, .text("d"): 4],
        to: [.text("a"): 1, .text("b"): 5, .text("n"): 7])
    }
    let links = try keys.database.read { try $0.links(keys.table, of: [1]) }
    #expect(
      Dictionary(uniqueKeysWithValues: links.map { ($0.place, $0.target) })
        == [.text("a"): 9, .text("b"): 5, .text("n"): 7])
  }
}
