import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

/// A sequence of changes and saves of one object, and the values that the store must have after it.
private struct SaveOrder {
  let magic: MagicData
  var spot = Spot("spot")
  var owner = Spot("owner")
  let targets = (0..<6).map { Spot("target-\($0)") }
  var random: SplitMix64
  /// The values in memory, as text.
  var values = [
    "number": "0", "text": "0", "tags": "", "one": "", "list": "", "set": "", "byName": "",
    "lazyList": "", "lazySet": "", "lazyByName": "", "lazyOne": "", "file": "", "lazyFile": "",
  ]
  /// The values that the latest save has read.
  var saved: [String: String] = [:]
  var tasks: [Task<Void, any Error>] = []

  init(_ magic: MagicData, seed: UInt64) {
    self.magic = magic
    random = SplitMix64(seed: seed)
  }

  private mutating func some() -> [Spot] {
    targets.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).map(\.self)
  }

  private static func text(_ spots: [Spot]) -> String { spots.map(\.id).joined(separator: ",") }
  private static func sorted(_ spots: some Sequence<Spot>) -> String {
    spots.map(\.id).sorted().joined(separator: ",")
  }
  private static func text(_ spots: [String: Spot]) -> String {
    spots.map { "\($0):\($1.id)" }.sorted().joined(separator: ",")
  }
  private static func named(_ spots: [Spot]) -> [String: Spot] {
    Dictionary(uniqueKeysWithValues: spots.enumerated().map { ("\($0)", $1) })
  }

  /// Changes a random property.
  private mutating func change() throws {
    let property = values.keys.sorted().randomElement(using: &random) ?? ""
    let number = Int.random(in: 1...9_999, using: &random)
    let some = some()
    let isSet = Bool.random(using: &random)
    switch property {
    case "number":
      spot.number = number
      values[property] = "\(number)"
    case "text":
      spot.text = "\(number)"
      values[property] = "\(number)"
    case "tags":
      spot.tags = ["\(number)"]
      values[property] = "\(number)"
    case "one":
      spot.one = some.first
      values[property] = some.first?.id ?? ""
    case "list":
      spot.list = some
      values[property] = Self.text(some)
    case "set":
      spot.set = MagicalSet(some)
      values[property] = Self.sorted(some)
    case "byName":
      spot.byName = Self.named(some)
      values[property] = Self.text(Self.named(some))
    case "lazyList":
      if isSet { spot.lazyList.set(some) } else { spot.lazyList.append(contentsOf: some) }
      values[property] = Self.text(try spot.lazyList.get())
    case "lazySet":
      if isSet {
        spot.lazySet.set(MagicalSet(some))
      } else if let first = some.first {
        spot.lazySet.remove(first)
        spot.lazySet.insert(contentsOf: some.dropFirst())
      }
      values[property] = Self.sorted(try spot.lazySet.get())
    case "lazyByName":
      if isSet {
        spot.lazyByName.set(Self.named(some))
      } else {
        try spot.lazyByName.set(some.first, forKey: "1")
      }
      values[property] = Self.text(try spot.lazyByName.get())
    case "lazyOne":
      if let lazy = spot.lazyOne, isSet, let first = some.first {
        lazy.set(first)
      } else {
        spot.lazyOne = some.first.map { AsyncMagical(value: $0) }
      }
      values[property] = some.first?.id ?? ""
    case "file":
      spot.file = MagicAsset(value: Data("\(number)".utf8))
      values[property] = "\(number)"
    default:
      let asset = MagicAsset(value: Data("\(number)".utf8))
      if let lazy = spot.lazyFile, isSet {
        lazy.set(asset)
      } else {
        spot.lazyFile = AsyncMagical(value: asset)
      }
      values[property] = "\(number)"
    }
  }

  /// Starts a save that waits for the open transaction after it has read the object.
  private mutating func startSave() {
    let count = magic.database.waitingAccessCount
    let isOwner = Bool.random(using: &random)
    tasks.append(
      Task { [magic, spot, owner] in
        _ = try await isOwner ? magic.update(owner) : magic.update(spot)
      })
    while magic.database.waitingAccessCount == count { sched_yield() }
    saved = values
  }

  /// Changes and saves the object several times, as part of the open transaction.
  mutating func run() throws {
    for _ in 0..<Int.random(in: 3...12, using: &random) {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: startSave()
      case 1:
        _ = try Bool.random(using: &random) ? magic.update([spot]) : [magic.update(owner)]
        saved = values
      default: try change()
      }
    }
  }

  /// The values in the store, as text.
  func stored() async throws -> [String: String] {
    let stored = try await magic.object(of: Spot.self, primary: spot.id)
    func text(_ data: Data?) -> String { data.map { String(decoding: $0, as: UTF8.self) } ?? "" }
    return [
      "number": "\(stored.number)", "text": stored.text, "tags": stored.tags.joined(),
      "one": stored.one?.id ?? "", "list": Self.text(stored.list), "set": Self.sorted(stored.set),
      "byName": Self.text(stored.byName),
      "lazyList": Self.text(try await stored.lazyList.get()),
      "lazySet": Self.sorted(try await stored.lazySet.get()),
      "lazyByName": Self.text(try await stored.lazyByName.get()),
      "lazyOne": try await stored.lazyOne?.get().id ?? "",
      "file": text(try await stored.file?.get()),
      "lazyFile": text(try await stored.lazyFile?.get().get()),
    ]
  }
}

/// Saves of one object by several tasks, which are committed in another order than the one in which
/// they have read the object.
@Suite struct SaveOrderTests {
  private static let isLong = ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == "1"

  private struct Failure: Error {}

  private static func differences(
    _ stored: [String: String], _ expected: [String: String]
  ) -> [String] {
    expected.filter { stored[$0.key] != $0.value }.map {
      "\($0.key) is “\(stored[$0.key] ?? "")” instead of “\($0.value)”"
    }
  }

  @Test(arguments: seeds(UInt64(1)...(Self.isLong ? 200 : 20)), [false, true])
  func `the latest save of each value determines what is stored`(
    seed: UInt64, isFetched: Bool
  ) async throws {
    let magic = try await MagicData(type: .memory)
    var new = SaveOrder(magic, seed: seed)
    new.owner.one = new.spot
    try await magic.update([new.owner] + new.targets)
    if isFetched {
      new.owner = try await magic.object(of: Spot.self, primary: new.owner.id)
      new.spot = try #require(new.owner.one)
    }
    new.saved = new.values
    let order = Mutex(new)
    for round in 0..<8 {
      // Each fourth transaction is rolled back.
      let isRolledBack = round % 4 == 3
      do {
        try await magic.transaction {
          try order.withLock { try $0.run() }
          if isRolledBack { throw Failure() }
        }
      } catch is Failure {
      }
      for task in order.withLock({ $0.tasks }) { try await task.value }
      let (saved, values) = order.withLock { order in
        order.tasks = []
        return (order.saved, order.values)
      }
      let copy = order.withLock { $0 }
      if !isRolledBack {
        let stored = try await copy.stored()
        #expect(stored == saved, "\(Self.differences(stored, saved)), round \(round)")
      }
      try await magic.update(copy.spot)
      let stored = try await copy.stored()
      #expect(stored == values, "\(Self.differences(stored, values)), round \(round)")
      order.withLock { $0.saved = values }
    }
    #expect(try magic.violations() == 0)
    #expect(try await magic.assets.verify().isEmpty)
    try await magic.close()
  }
}
