import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

/// Devices that have received the same files have the same store.
@Suite struct ConvergenceTests {
  @Test(arguments: seeds(1...20))
  func `random changes of three devices converge`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let files = try TestFolder()
    var devices: [(MagicData, Sync)] = []
    for name in ["a", "b", "c"] {
      let magic = try await MagicData(path: "\(files.path)/\(name)")
      let sync = try await Sync(
        magic, through: .folder("\(files.path)/shared"), objects: [Island.self, Person.self])
      devices.append((magic, sync))
    }
    let names = ["Vis", "Hvar", "Krk", "Rab"]
    for _ in 0..<60 {
      let (magic, sync) = devices.randomElement(using: &random)!
      let name = names.randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        try await sync.once()
      case 2:
        let people = try await magic.fetch(Person.all)
        if let person = people.randomElement(using: &random) { try await magic.remove(person) }
      case 3:
        try await magic.removeAll(Island.where(\.$name == name))
      default:
        let found = try await magic.fetch(Island.where(\.$name == name).first)
        let island = found ?? Island(name, 0)
        island.population = Int.random(in: 0..<100, using: &random)
        if Bool.random(using: &random) {
          island.people.append(Person("\(Int.random(in: 0..<100, using: &random))"))
        } else if !island.people.isEmpty {
          island.people.remove(at: Int.random(in: island.people.indices, using: &random))
        }
        if Bool.random(using: &random) { island.ruler = island.people.last }
        try await magic.update(island)
      }
    }
    let reports = try await settle(devices.map(\.1))
    for ((magic, _), report) in zip(devices, reports) {
      #expect(report.problems == [])
      let difference = try await magic.difference(from: devices[0].0)
      #expect(difference.isEmpty, "\(difference)")
      #expect(
        try await magic.database.read { try $0.firstRow("PRAGMA integrity_check", as: String.self) }
          == "ok")
    }
  }
}
