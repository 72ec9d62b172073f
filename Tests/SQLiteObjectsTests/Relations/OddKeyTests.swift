import Conformance
import MagicData
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key with two properties, which JSON may encode in any order.
struct KeyPoint: Codable, Hashable {
  var x: Int
  var y: Double
}

enum KeyShape: Codable, Hashable {
  case dot
  case circle(radius: Int)
}

/// An object with dictionaries that have unusual key types.
struct OddlyKeyed: MagicObject {
  @MagicValue var byPoint: [KeyPoint: Leaf]
  @MagicValue var byShape: [KeyShape: Leaf]
  @MagicValue var byDouble: [Double: Leaf]
  @MagicValue var byDate: [Date: Leaf]
  @MagicValue var byID: [UUID: Leaf]
  @MagicValue var byData: [Data: Leaf]
  @MagicValue var byList: [[Int]: Leaf]
  @MagicValue var bySet: [Set<String>: Leaf]
  @MagicValue var byFlag: [Bool: Leaf]
  @MagicValue var byOptional: [Int?: Leaf]
  @MagicValue var byByte: [Int8: Leaf]
  @MagicValue var byGreat: [UInt64: Leaf]

  init() {
    byPoint = [:]
    byShape = [:]
    byDouble = [:]
    byDate = [:]
    byID = [:]
    byData = [:]
    byList = [:]
    bySet = [:]
    byFlag = [:]
    byOptional = [:]
    byByte = [:]
    byGreat = [:]
  }
}

@Suite(.everyEngine) struct OddKeyTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func again() throws -> OddlyKeyed {
    try #require(try magic.object(of: OddlyKeyed.self).first)
  }

  @Test func `keys of all types are fetched as they were saved`() throws {
    let keyed = OddlyKeyed()
    let id = UUID()
    let date = Date(timeIntervalSince1970: 0.1 + 0.2)
    keyed.byPoint = [KeyPoint(x: 1, y: 2): Leaf("a"), KeyPoint(x: 2, y: 1): Leaf("b")]
    keyed.byShape = [.dot: Leaf("a"), .circle(radius: 3): Leaf("b")]
    keyed.byDouble = [
      0.1: Leaf("a"), 1: Leaf("b"), -.infinity: Leaf("c"), .leastNormalMagnitude: Leaf("d"),
    ]
    keyed.byDate = [date: Leaf("a")]
    keyed.byID = [id: Leaf("a")]
    keyed.byData = [Data(): Leaf("a"), Data([0, 255]): Leaf("b")]
    keyed.byList = [[]: Leaf("a"), [1, 2]: Leaf("b")]
    keyed.bySet = [["x", "y", "z"]: Leaf("a")]
    keyed.byFlag = [true: Leaf("a"), false: Leaf("b")]
    keyed.byByte = [-128: Leaf("a")]
    try magic.update(keyed)
    let fetched = try again()
    #expect(
      fetched.byPoint.mapValues(\.text) == [KeyPoint(x: 1, y: 2): "a", KeyPoint(x: 2, y: 1): "b"])
    #expect(fetched.byShape.mapValues(\.text) == [.dot: "a", .circle(radius: 3): "b"])
    #expect(
      fetched.byDouble.mapValues(\.text) == [
        0.1: "a", 1: "b", -.infinity: "c", .leastNormalMagnitude: "d",
      ])
    #expect(fetched.byDate[date]?.text == "a")
    #expect(fetched.byID[id]?.text == "a")
    #expect(fetched.byData.mapValues(\.text) == [Data(): "a", Data([0, 255]): "b"])
    #expect(fetched.byList.mapValues(\.text) == [[]: "a", [1, 2]: "b"])
    #expect(fetched.bySet[["z", "y", "x"]]?.text == "a")
    #expect(fetched.byFlag.mapValues(\.text) == [true: "a", false: "b"])
    #expect(fetched.byByte[-128]?.text == "a")
  }

  @Test func `keys that are equal in Swift are the same key`() throws {
    let keyed = OddlyKeyed()
    keyed.byDouble = [0.0: Leaf("zero")]
    keyed.bySet = [["x", "y", "z"]: Leaf("a")]
    try magic.update(keyed)
    let fetched = try again()
    fetched.byDouble = [-0.0: Leaf("negative")]
    fetched.bySet = [["z", "y", "x"]: Leaf("b")]
    try magic.update(fetched)
    #expect(try again().byDouble.mapValues(\.text) == [0: "negative"])
    #expect(try again().bySet.mapValues(\.text) == [["x", "y", "z"]: "b"])
    #expect(try magic.violations() == 0)
  }

  @Test func `a key that can't be stored throws, and nothing is saved`() throws {
    let keyed = OddlyKeyed()
    keyed.byDouble = [.nan: Leaf("a")]
    #expect(throws: MagicError.self) { try magic.update(keyed) }
    keyed.byDouble = [:]
    try magic.update(keyed)
    keyed.byGreat = [.max: Leaf("a")]
    #expect(throws: MagicError.self) { try magic.update(keyed) }
    #expect(try magic.count(of: Leaf.self) == 0)
  }

  @Test func `nil as a key throws, and nothing is saved`() throws {
    let keyed = OddlyKeyed()
    keyed.byOptional = [nil: Leaf("none"), 1: Leaf("one")]
    #expect(
      throws: MagicError.unstorableValue(
        type: "OddlyKeyed", property: "byOptional", reason: "one of its keys is nil")
    ) {
      try magic.update(keyed)
    }
    #expect(try magic.count(of: Leaf.self) == 0)
    keyed.byOptional = [1: Leaf("one")]
    try magic.update(keyed)
    #expect(try again().byOptional.mapValues(\.text) == [1: "one"])
  }
}
