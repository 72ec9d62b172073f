import Foundation
import MagicData
import Testing
import TestSupport
import Tour

/// Compares the tour's store with the same files, read independently.
@Suite(
  .enabled(if: FileManager.default.fileExists(atPath: "\(ZoneDatabase.defaultFolder)/zone1970.tab"))
)
struct StoreTourTests {
  private static let folder = ZoneDatabase.defaultFolder

  /// Returns the lines of a table without comments, split at tabs.
  private static func lines(_ name: String) throws -> [[String]] {
    try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      .components(separatedBy: "\n")
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
      .map { $0.components(separatedBy: "\t") }
  }

  private static func savedStore() async throws -> StoreTour {
    let tour = StoreTour(try await MagicData(type: .temporary))
    _ = try await tour.save(ZoneDatabase())
    return tour
  }

  @Test func `the store has as many countries, zones and pairs as the tables`() async throws {
    let tour = try await StoreTourTests.savedStore()
    let countries = try StoreTourTests.lines("iso3166.tab")
    let zones = try StoreTourTests.lines("zone1970.tab")
    #expect(try await tour.magic.count(of: Country.self) == countries.count)
    #expect(try await tour.magic.count(of: Zone.self) == zones.count)
    let pairs = zones.reduce(0) { $0 + $1[0].components(separatedBy: ",").count }
    #expect(try await tour.pairCount() == pairs)
    #expect(countries.count > 200 && zones.count > 300)
  }

  @Test func `20 zones have the coordinates and files of the source`() async throws {
    let tour = try await StoreTourTests.savedStore()
    let lines = try StoreTourTests.lines("zone1970.tab")
    for line in stride(from: 0, to: lines.count, by: lines.count / 20).map({ lines[$0] }) {
      let zone = try await tour.magic.object(of: Zone.self, primary: line[2])
      let (latitude, longitude) = try degrees(line[1])
      #expect(abs(zone.latitude - latitude) < 1e-9, "\(line[2])")
      #expect(abs(zone.longitude - longitude) < 1e-9, "\(line[2])")
      let source = try Data(
        contentsOf: URL(fileURLWithPath: "\(StoreTourTests.folder)/\(line[2])"))
      #expect(try await tour.file(of: line[2]) == source)
    }
  }

  /// Parses `±DDMM[SS]±DDDMM[SS]` into degrees, independently of the tour's code.
  private func degrees(_ text: String) throws -> (Double, Double) {
    let split = try #require(text.dropFirst().firstIndex { $0 == "+" || $0 == "-" })
    func value(_ part: Substring, _ digits: Int) throws -> Double {
      let sign = part.hasPrefix("-") ? -1.0 : 1.0
      let number = Array(part.dropFirst())
      let degrees = try #require(Double(String(number[..<digits])))
      let minutes = try #require(Double(String(number[digits..<(digits + 2)])))
      let seconds = number.count > digits + 2 ? Double(String(number[(digits + 2)...])) : 0
      return sign * (degrees + minutes / 60 + (try #require(seconds)) / 3600)
    }
    return (try value(text[..<split], 2), try value(text[split...], 3))
  }

  @Test func `a relation and its reverse relation agree`() async throws {
    let tour = try await StoreTourTests.savedStore()
    let expected = try StoreTourTests.lines("zone1970.tab").filter { $0[0].contains("CA") }
    let zones = try await tour.zones(of: "CA").map(\.name)
    #expect(Set(zones) == Set(expected.map { $0[2] }))
    #expect(try await tour.countries(of: "Europe/Zurich").map(\.code) == ["CH", "DE", "LI"])
  }

  @Test func `the low-level steps agree with the objects`() async throws {
    let tour = try await StoreTourTests.savedStore()
    let south = try await tour.magic.count(of: Zone.self, where: \.$latitude < 0)
    #expect(try tour.count(southOf: 0) == [south, south, south])
    let zones = try await tour.magic.count(of: Zone.self)
    let (between, after) = try tour.deleteAndRollBack()
    #expect(between == 0)
    #expect(after == zones)
    #expect(try await tour.comment(on: "Europe/Zurich") == "visited by the tour")
    #expect(try await tour.zones(northOf: 60).allSatisfy { $0.latitude > 60 })
  }

  @Test func `saving everything twice changes nothing`() async throws {
    let tour = try await StoreTourTests.savedStore()
    _ = try await tour.save(ZoneDatabase())
    #expect(try await tour.magic.count(of: Zone.self) == StoreTourTests.lines("zone1970.tab").count)
    let count = try await tour.magic.count(of: Zone.self)
    #expect(try await tour.magic.assets.records().count == count)
    #expect(try await tour.magic.assets.verify().isEmpty)
  }

  @Test func `a reopened store has everything`() async throws {
    let folder = try TestFolder()
    let tour = StoreTour(try await MagicData(path: folder.path))
    _ = try await tour.save(ZoneDatabase())
    try await tour.magic.database.close()
    let again = StoreTour(try await MagicData(path: folder.path))
    #expect(
      try await again.magic.count(of: Zone.self) == StoreTourTests.lines("zone1970.tab").count)
    #expect(try await again.file(of: "Asia/Tokyo")?.prefix(4) == Data("TZif".utf8))
  }
}
