import Foundation
import MagicData
import Testing
import TestSupport
import Workload

/// Tests disks that are really full.
@Suite(.serialized) struct FullDiskTests {
  /// An in-memory file system with a size of a few megabytes, which only root can mount.
  private final class SmallDisk {
    let folder: TestFolder
    let isMounted: Bool

    init(megabytes: Int) throws {
      folder = try TestFolder.inMemory()
      isMounted =
        try SmallDisk.run(
          "mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path) == 0
    }

    deinit { if isMounted { _ = try? SmallDisk.run("umount", folder.path) } }

    private static func run(_ command: String...) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = command
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  static let canMount: Bool = {
    guard let disk = try? SmallDisk(megabytes: 1) else { return false }
    return disk.isMounted
  }()

  @Test(
    .enabled(
      if: canMount, "mounting a small file system requires root, and some containers don't allow it"
    ),
    arguments: [Database.Options.JournalMode.wal, .delete])
  func `a store on a full disk works again when there is space`(
    mode: Database.Options.JournalMode
  ) throws {
    let disk = try SmallDisk(megabytes: 3)
    var options = Database.Options()
    options.journalMode = mode
    let store = try Workload(path: disk.folder.file("store"), options: options)
    var state: Step.State = [:]
    try disk.folder.write([UInt8](repeating: 1, count: 1 << 20), to: "ballast")
    var failures = 0
    for number in 1...400 {
      // One of seven steps is large, and its transaction spills to a file.
      let step = Step.setAll("s\(number)", number)
      do {
        try store.run(step)
        step.apply(to: &state)
      } catch {
        try expectNoRoom(error)
        failures += 1
        let found = try store.state()
        #expect(found == state)
        // Retries like a naive program. The rollback may have freed enough space.
        for _ in 0..<20 {
          do {
            try store.run(step)
            step.apply(to: &state)
          } catch {
            try expectNoRoom(error)
          }
        }
        #expect(try store.state() == state)
        break
      }
    }
    #expect(failures > 0)
    try FileManager.default.removeItem(atPath: disk.folder.file("ballast"))
    try store.run(.setAll("after", 6))
    Step.setAll("after", 6).apply(to: &state)
    #expect(try store.state() == state)
    try store.magic.database.close()
    let again = try Workload(path: disk.folder.file("store"), options: options)
    try again.check()
    #expect(try again.state() == state)
    try again.magic.database.close()
  }

  private func expectNoRoom(_ error: any Error) throws {
    switch error {
    case let error as SQLiteError:
      let names: [ResultCode] = [.full, .inputOutput, .cannotOpen, .abort]
      #expect(names.contains(error.code.primary), "\(error)")
    case AssetError.system(_, _, let number): #expect(number == ENOSPC)
    default: throw error
    }
  }

  @Test func `writes throw at the file size limit and succeed after it is raised`() throws {
    let folder = try TestFolder.inMemory()
    let result = try Helper.run("limit", folder.file("store"), "400000")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output == "3")
  }
}
