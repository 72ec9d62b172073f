import Conformance
import Foundation
import MagicCluster
import MagicData
import SQLitePortable
import Testing
import TestSupport

private struct Film: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var script: MagicAsset<String>
  @MagicValue var poster: MagicAsset<Data>

  init() {
    script = MagicAsset()
    poster = MagicAsset()
  }

  init(_ id: String, poster: Int) {
    self.id = id
    script = MagicAsset(value: "script of \(id)", pathExtension: "txt")
    self.poster = MagicAsset(value: Data(repeating: 7, count: poster), pathExtension: "png")
  }
}

/// Tests the assets of a cluster's store, in rows and in a folder that all clients share.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterAssetTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func store(_ name: String = #function, folder: String?) throws -> MagicData {
    var options = ClusterOptions()
    // How long a file is kept after its object is removed.
    options.leaderTimeout = .seconds(600)
    return try MagicData(
      cluster: TestCluster.shared.get().addresses, name: name, assetFolder: folder,
      options: options)
  }

  /// Returns the names of the content files in the shared folder.
  private func files() throws -> [String] {
    let path = folder.path + "/files"
    // A store creates its folder when it writes its first content.
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path)
  }

  /// Records the deletion times of the removed objects' files and moves them an hour into the past.
  private func ageDeletedFiles(_ magic: MagicData) async throws {
    try await magic.assets.removeDeletedFiles()
    try await magic.database.executeChange("UPDATE magicdata_asset_seen SET since = since - 3600")
  }

  @Test func `files in a shared folder are deleted whichever client removes their objects`()
    async throws
  {
    let one = try store(folder: folder.path)
    let two = try store(folder: folder.path)
    for id in 0..<6 {
      try await (id % 2 == 0 ? one : two).update(Film("\(id)", poster: 10_000))
    }
    #expect(try files().count == 12)
    for id in 0..<3 {
      try await one.remove(try await one.object(of: Film.self, primary: "\(id)"))
    }
    try await ageDeletedFiles(two)
    try await two.assets.removeDeletedFiles()
    #expect(try files().count == 6)
    // Replacing a content creates another file.
    let film = try await two.object(of: Film.self, primary: "5")
    film.script = MagicAsset(value: "another", pathExtension: "txt")
    try await two.update(film)
    #expect(try await one.object(of: Film.self, primary: "5").script.get() == "another")
    try await ageDeletedFiles(one)
    let report = try await one.assets.sweep()
    #expect(report.kept.isEmpty && report.foreign.isEmpty)
    #expect(try files().count == 6)
    for store in [one, two, try store(folder: folder.path)] {
      #expect(try await store.assets.verify().isEmpty)
      for film in try await store.objects(of: Film.self) {
        #expect(try await film.poster.get()?.count == 10_000)
      }
    }
  }

  @Test func `a deleted object's files are kept for readers and removed by a later opening`()
    async throws
  {
    let magic = try store(folder: folder.path)
    try await magic.update([Film("a", poster: 10), Film("b", poster: 10)])
    let film = try await magic.object(of: Film.self, primary: "a")
    try await magic.remove(try await magic.object(of: Film.self, primary: "a"))
    let other = try store(folder: folder.path)
    _ = try await other.assets.sweep()
    #expect(try files().count == 4)
    withExtendedLifetime(film) {}
    try await ageDeletedFiles(magic)
    _ = try store(folder: folder.path)
    #expect(try files().count == 2)
  }

  @Test func `an unreferenced file is marked first and deleted by a later sweep`() async throws {
    let magic = try store(folder: folder.path)
    try await magic.update(Film("a", poster: 10))
    // Simulates a program that drops the triggers.
    try await magic.database.executeChange("DROP TRIGGER magicdata_asset_deleted")
    try await magic.database.executeChange("DELETE FROM magicdata_asset")
    let report = try await magic.assets.sweep()
    #expect(report.kept.count == 2)
    #expect(report.removed.isEmpty)
    try await ageDeletedFiles(magic)
    _ = try await magic.assets.sweep()
    #expect(try files().isEmpty)
  }

  @Test func `large content in rows is complete, and content above the limit throws`() async throws
  {
    let magic = try store(folder: nil)
    try await magic.update(Film("a", poster: 3 << 20))
    let other = try store(folder: nil)
    let film = try await other.object(of: Film.self, primary: "a")
    #expect(try await film.poster.get()?.count == 3 << 20)
    film.script = MagicAsset(value: "another", pathExtension: "txt")
    try await other.update(film)
    #expect(try await magic.object(of: Film.self, primary: "a").script.get() == "another")
    let error = await #expect(throws: SQLiteError.self) {
      try await magic.update(Film("b", poster: 65 << 20))
    }
    #expect(error?.code == .tooBig)
    #expect(try await magic.count(of: Film.self) == 1)
    #expect(try await magic.assets.records().count == 2)
    try await magic.remove(film)
    #expect(try await magic.assets.records().isEmpty)
  }

  @Test func `a backup throws before it writes anything`() async throws {
    let magic = try store(folder: nil)
    let path = folder.path + "/backup"
    let error = await #expect(throws: SQLiteError.self) { try await magic.backup(to: path) }
    #expect(error?.code == .authorization)
    #expect(try folder.names().isEmpty)
  }

  @Test func `a store with files moves to a cluster and back by dump and folder copy`()
    throws
  {
    let file = try MagicData(path: folder.path + "/before")
    for id in 0..<4 { try file.update(Film("\(id)", poster: id * 20_000)) }
    try file.remove(try file.object(of: Film.self, primary: "3"))
    let dump = DataFile.spon(path: folder.path + "/films.spon")
    try file.database.dump(to: dump)
    let shared = folder.path + "/shared"
    try FileManager.default.copyItem(atPath: folder.path + "/before/assets", toPath: shared)

    let addresses = try TestCluster.shared.get().addresses
    let name = "moved-with-files"
    try Database(cluster: addresses, name: name).restore(from: dump)
    let magic = try MagicData(cluster: addresses, name: name, assetFolder: shared)
    for id in 0..<3 {
      let film = try magic.object(of: Film.self, primary: "\(id)")
      #expect(try film.script.get() == "script of \(id)")
      #expect(try film.poster.get() == Data(repeating: 7, count: id * 20_000))
    }
    #expect(try magic.assets.verify() == [])
    try magic.update(Film("new", poster: 50_000))

    let back = DataFile.spon(path: folder.path + "/back.spon")
    try magic.database.dump(to: back)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/after", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: shared, toPath: folder.path + "/after/assets")
    try Database(path: folder.path + "/after/default.sqlite3").restore(from: back)
    let after = try MagicData(path: folder.path + "/after")
    #expect(try after.object(of: Film.self).map(\.id).sorted() == ["0", "1", "2", "new"])
    #expect(
      try after.object(of: Film.self, primary: "new").poster.get()
        == Data(repeating: 7, count: 50_000))
    #expect(try after.assets.verify() == [])
  }
}
