import Foundation
import Testing
import TestSupport

/// Damages each value of the library's own tables in a file, and makes all calls that read them.
///
/// `DamageHelper` takes the tables and columns from the schema, so new columns are damaged
/// automatically. A call may throw an error of the library or return a result, but must not end the
/// process. With `MAGICDATA_DAMAGE=all`, every value is put in every place, which takes minutes.
@Suite(.timeLimit(.minutes(60))) struct DamageTests {
  /// Runs the helper and returns the lines that it printed and its exit status.
  private func run(_ arguments: [String]) throws -> (lines: [String], status: Int32) {
    let process = Process()
    process.executableURL = try helperProgram("DamageHelper")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    return (lines, process.terminationStatus)
  }

  @Test(arguments: [0, 1])
  func `no damaged value in a file ends the process`(start: Int) throws {
    let folder = try TestFolder.inMemory()
    let extent = ProcessInfo.processInfo.environment["MAGICDATA_DAMAGE"] ?? "some"
    var next = start
    var damaged: Set<Substring> = []
    var columns: Set<Substring> = []
    while true {
      let (lines, status) = try run([folder.path, "\(next)", "2", extent])
      var damage = ""
      for line in lines {
        let words = line.split(separator: " ", maxSplits: 2)
        switch words.first {
        case "damage": damage = line
        case "column": columns.insert(words[1])
        case "made": damaged.insert(words[1])
        case "strange": Issue.record("\(damage): \(line)")
        default: break
        }
      }
      if status == 0 { break }
      let call = lines.last { $0.hasPrefix("call") } ?? ""
      Issue.record("\(damage): the process ended with status \(status) in \(call)")
      guard let index = Int(damage.split(separator: " ").dropFirst().first ?? "") else { return }
      next = index + 2
    }
    // SQLite protects the tables of full-text indexes from damage.
    let missing = columns.subtracting(damaged).filter { $0.hasPrefix("magicdata_") }
    #expect(missing.isEmpty, "some columns could not be damaged")
    let tables = Set(columns.map { String($0.prefix { $0 != "." }) })
    for table in try ownTables() where !onlyInClusters.contains(table) {
      #expect(tables.contains(table), "the store of DamageHelper lacks \(table)")
    }
  }

  /// The tables that only a cluster's database has.
  private let onlyInClusters = ["magicdata_asset_seen", "magicdata_restore"]

  /// Returns the names of the internal tables that the sources create.
  private func ownTables() throws -> Set<String> {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources").standardized
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var tables: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(
        of: /CREATE TABLE (?:IF NOT EXISTS )?(?:main\.)?(magicdata_[a-z_]+)/)
      {
        tables.insert(String(match.1))
      }
    }
    #expect(tables.count > 8)
    return tables
  }
}
