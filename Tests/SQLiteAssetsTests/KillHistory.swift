import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// The changes that a kill test's processes recorded, and the check that the store agrees with
/// them.
struct KillHistory {
  private let temporary: TestFolder
  private let processes: Int
  /// The number of acknowledged changes in all rounds.
  private(set) var acknowledged = 0

  var path: String { temporary.path }

  init(processes: Int) throws {
    temporary = try TestFolder()
    self.processes = processes
    let database = try Database(path: "\(path)/data.sqlite3")
    _ = try AssetStore(database, folder: "\(path)/assets")
  }

  /// Opens the store like the next process would, and compares everything.
  mutating func check() throws {
    let database = try KillWorkload.open(path)
    let store = try AssetStore(database, folder: "\(path)/assets")
    #expect(try store.verify() == [], "missing or damaged")
    #expect(try orphans() == 0, "orphans")
    #expect(temporary.files(in: "assets/pending") == [])
    let integrity = try database.rows("PRAGMA integrity_check", as: String.self).first
    #expect(integrity == "ok")
    var expected: [String: Set<String?>] = [:]
    acknowledged = 0
    for process in 0..<processes {
      expected.merge(try outcomes(of: process)) { $0.union($1) }
    }
    let rows = try database.rows("SELECT key, asset FROM item", as: String.self, AssetID.self)
    let found = Dictionary(uniqueKeysWithValues: rows)
    for (key, versions) in expected {
      let content = try found[key].map { try store.bytes(of: $0) }
      let allowed = versions.map { $0.map { KillWorkload.content(key, UInt64($0) ?? 0) } }
      #expect(allowed.contains(content), "lost or wrong: \(key)")
    }
    #expect(Set(found.keys).isSubset(of: expected.keys), "never put")
    #expect(try store.records().count == found.count)
  }

  /// Returns the number of files in `files` that no row references.
  func orphans() throws -> Int {
    let database = try Database(path: "\(path)/data.sqlite3")
    var named: Set<String> = []
    for name in try database.rows("SELECT file FROM magicdata_asset", as: String.self) {
      named.insert(name)
    }
    return temporary.files(in: "assets/files").count { !named.contains($0) }
  }

  /// Returns the versions that each key of a process may have: the last acknowledged one and that
  /// of a change that was cut off after it. All changes of a transaction have the same outcome.
  private mutating func outcomes(of process: Int) throws -> [String: Set<String?>] {
    let file = "journal-\(process)"
    guard FileManager.default.fileExists(atPath: "\(path)/\(file)") else { return [:] }
    var states: [String: Set<String?>] = [:]
    for line in try temporary.text(of: file).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 3 else { continue }
      let version = words[1] == "set" ? words[3] : nil
      if words[0] == "!" {
        states[words[2]] = [version]
        acknowledged += 1
      } else {
        states[words[2], default: [nil]].insert(version)
      }
    }
    return states
  }
}
