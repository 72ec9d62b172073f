import Conformance
import Foundation
import MagicCluster
import MagicData
import MagicObservation
import TestSupport
import Testing

private struct Ferry: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$name)] }

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var cars: Int
  @MagicValue var stops: [Stop] = []

  init() {}

  init(_ name: String, cars: Int, _ stops: [Stop] = []) {
    self.name = name
    self.cars = cars
    self.stops = stops
  }
}

private struct Stop: MagicObject {
  @PrimaryMagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

/// Live results of stores on a cluster.
@MainActor
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterLiveResultsTests {
  @Test(.timeLimit(.minutes(40)))
  func `each kind of request is live, and sees the writes of other clients`() async throws {
    let addresses = try TestCluster.shared.get().addresses
    let magic = try await MagicData(cluster: addresses, name: "live results")
    let other = try await MagicData(cluster: addresses, name: "live results")
    let hurtig = Ferry("Hurtig", cars: 35, [Stop("Bergen"), Stop("Bodø")])
    try await magic.update(hurtig)
    let ferries = LiveResults(Ferry.ordered(by: .ascending(\.$name)), pageSize: 2, in: magic)
    let count = LiveResults(Ferry.all.count, initially: 0, in: magic)
    let names = LiveResults(Ferry.ordered(by: .ascending(\.$name)).values(\.$name), in: magic)
    let cars = LiveResults(Ferry.all.aggregate(.sum(\.$cars)), initially: 0, in: magic)
    let found = LiveResults(Ferry.all.search(.prefix("fj")), in: magic)
    let stops = LiveResults(hurtig.$stops.where(\.$name != "Bodø"), in: magic)
    let sums = LiveResults(
      RecordQuery<Int>.sql("SELECT sum(cars) FROM Ferry"), in: magic.database)
    let several = LiveResults(
      LiveFetch { [try $0.count(of: Ferry.self), try $0.count(of: Stop.self)] }, in: magic)
    try await wait { ferries.value.map(\.name) == ["Hurtig"] && count.value == 1 }
    try await wait { names.value == ["Hurtig"] && cars.value == 35 && sums.value == [35] }
    try await wait { stops.value.map(\.name) == ["Bergen"] && several.value == [1, 2] }
    try await found.load()
    #expect(found.value.isEmpty)

    try await other.update([Ferry("Fjord 1", cars: 50), Ferry("Åland", cars: 9)])
    try await wait { ferries.value.map(\.name) == ["Fjord 1", "Hurtig"] && ferries.hasMore }
    try await wait { count.value == 3 && names.value.count == 3 && cars.value == 94 }
    try await wait { sums.value == [94] && several.value == [3, 2] }
    try await wait { found.value.map(\.value.name) == ["Fjord 1"] }
    let copy = try await other.object(of: Ferry.self, primary: hurtig.id)
    copy.stops.append(Stop("Tromsø"))
    try await other.update(copy)
    try await wait { stops.value.map(\.name) == ["Bergen", "Tromsø"] && several.value == [3, 3] }
    #expect(ferries.error == nil && found.error == nil && sums.error == nil)

    try await magic.close()
    for error in [{ ferries.error }, { count.error }, { found.error }, { stops.error }] {
      try await wait { error() as? MagicError == .closed }
    }
    try await other.close()
  }

  @Test(.timeLimit(.minutes(40)))
  func `a lost cluster is an error until it is back`() async throws {
    let cluster = try TestCluster(count: 1)
    var options = ClusterOptions()
    options.leaderTimeout = .milliseconds(300)
    let magic = try await MagicData(cluster: cluster.addresses, name: "live", options: options)
    try await magic.update(Ferry("Hurtig", cars: 35))
    let count = LiveResults(Ferry.all.count, initially: 0, in: magic)
    try await count.load()
    cluster.signal(0, SIGKILL)
    count.reload()
    await #expect(throws: SQLiteError.self) { try await count.load() }
    #expect(count.value == 1)
    try cluster.start(0)
    try await wait {
      if count.error != nil { count.reload() }
      return count.error == nil
    }
    #expect(count.value == 1)
  }
}
