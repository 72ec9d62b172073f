import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

/// The cipher of a sync: what the folder reveals, and wrong keys.
@Suite struct SyncCipherTests {
  let files: TestFolder
  let folder = FaultyFolder()
  init() throws { files = try TestFolder() }

  private func device(_ name: String, _ cipher: ToyTestCipher?) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    let sync = try await Sync(
      magic, through: folder, name: "archipelago", objects: [Island.self, Person.self],
      deviceName: "The phone of \(name)", cipher: cipher)
    return (magic, sync)
  }

  private static var island: Island {
    let island = Island("Vela Luka", 4_711)
    island.people = [Person("Ana Marija")]
    island.map = MagicAsset(value: Data("the secret map".utf8))
    return island
  }

  /// Texts that are in the files of a sync that isn't encrypted.
  private static let plain = [
    "Vela Luka", "Ana Marija", "the secret map", "Island", "population", "archipelago",
    "The phone of",
  ]

  @Test func `two devices with the same key sync, and the folder reveals neither names nor values`()
    async throws
  {
    let (a, syncA) = try await device("a", ToyTestCipher(key: "right"))
    let (b, syncB) = try await device("b", ToyTestCipher(key: "right"))
    try await a.update(Self.island)
    try await settle([syncA, syncB])
    let copy = try await b.object(of: Island.self, primary: "Vela Luka")
    copy.population = 4_712
    try await b.update(copy)
    try await settle([syncA, syncB])
    let difference = try await b.difference(from: a)
    #expect(difference.isEmpty, "\(difference)")
    #expect(try await a.object(of: Island.self, primary: "Vela Luka").population == 4_712)
    #expect(
      try await b.object(of: Island.self, primary: "Vela Luka").map.get()
        == Data("the secret map".utf8))
    #expect(try await syncA.once().problems == [])
    #expect(try await syncB.once().problems == [])
    #expect(folder.files.count >= 3)
    for (name, content) in folder.files {
      for text in Self.plain {
        #expect(content.range(of: Data(text.utf8)) == nil, "\(name) contains \(text)")
        #expect(!name.contains(text))
      }
    }
  }

  @Test func `without a cipher, the folder reveals names and values`() async throws {
    let (a, syncA) = try await device("a", nil)
    let (_, syncB) = try await device("b", nil)
    try await a.update(Self.island)
    try await settle([syncA, syncB])
    let all = folder.files.values.reduce(Data(), +)
    for text in Self.plain { #expect(all.range(of: Data(text.utf8)) != nil, "\(text)") }
  }

  @Test(arguments: [nil, ToyTestCipher(key: "wrong")] as [ToyTestCipher?])
  func `a missing key and a wrong one are reported`(cipher: ToyTestCipher?) async throws {
    let (a, syncA) = try await device("a", ToyTestCipher(key: "right"))
    let (_, other) = try await device("c", ToyTestCipher(key: "right"))
    try await a.update(Self.island)
    try await settle([syncA, other])
    let written = folder.files
    let (b, syncB) = try await device("b", cipher)
    let report = try await syncB.once()
    #expect(report.receivedCount == 0)
    #expect(
      report.problems.contains { if case .wrongKey = $0 { true } else { false } },
      "\(report.problems)")
    #expect(try await b.count(of: Island.self) == 0)
    for (name, content) in written { #expect(folder.files[name] == content) }
    try await b.close()

    // The same store with the right key begins where it left off.
    let (again, sync) = try await device("b", ToyTestCipher(key: "right"))
    // Files that it wrote with the wrong key are of no use to others.
    for name in folder.files.keys where written[name] == nil { folder.files[name] = nil }
    try await settle([syncA, other, sync])
    #expect(try await again.count(of: Island.self) == 1)
  }

  @Test func `an altered encrypted file is reported, and used when it is right again`() async throws
  {
    let (a, syncA) = try await device("a", ToyTestCipher(key: "right"))
    let (b, syncB) = try await device("b", ToyTestCipher(key: "right"))
    try await settle([syncA, syncB])
    let before = Set(folder.files.keys)
    try await a.update(Self.island)
    try await syncA.once()
    for (name, content) in folder.files where !before.contains(name) {
      var altered = content
      altered[altered.count - 40] ^= 1
      folder.files[name] = altered
    }
    let altered = folder.files
    let report = try await syncB.once()
    #expect(report.receivedCount == 0 && report.problems.count == 1)
    #expect(
      report.problems.allSatisfy {
        switch $0 {
        case .wrongKey, .damagedFile, .missingAsset: true
        default: false
        }
      }, "\(report.problems)")
    #expect(try await b.count(of: Island.self) == 0)
    for name in altered.keys where !before.contains(name) {
      folder.files[name]?[altered[name]!.count - 40] ^= 1
    }
    try await settle([syncA, syncB])
    #expect(try await b.count(of: Island.self) == 1)
    #expect(try await syncB.once().problems == [])
  }
}
