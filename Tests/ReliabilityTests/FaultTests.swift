import Foundation
import MagicData
import Testing
import TestSupport
import Workload

/// Tests that every file system call of SQLite can fail, in each way.
///
/// `MAGICDATA_FAULTS` sets the number of runs per test; `all` tests every call.
/// `MAGICDATA_SEED` varies what survives a power cut.
@Suite struct FaultTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    let journalMode: Database.Options.JournalMode
    let kind: FaultDisk.Kind
    let isPersistent: Bool

    var testDescription: String {
      "\(kind), \(journalMode), \(isPersistent ? "persistent" : "once")"
    }
  }

  static let runs: Int = {
    let text = ProcessInfo.processInfo.environment["MAGICDATA_FAULTS"]
    return text == "all" ? .max : text.flatMap { Int($0) } ?? 85
  }()

  static let seed =
    ProcessInfo.processInfo.environment["MAGICDATA_SEED"].flatMap { UInt64($0) } ?? 0

  static let plans: [Plan] =
    [Database.Options.JournalMode.wal, .delete].flatMap { mode in
      FaultDisk.Kind.allCases.flatMap { kind in
        // A power cut always lasts, so the two values select two sets of seeds.
        [false, true].map { Plan(journalMode: mode, kind: kind, isPersistent: $0) }
      }
    }
    + [.truncate, .persist].map { Plan(journalMode: $0, kind: .power, isPersistent: true) }

  @Test(arguments: plans)
  func `a fault loses no data, and the store works afterwards`(plan: Plan) throws {
    let result = try Self.violations(plan, runs: Self.runs)
    #expect(result.violations == [])
    #expect(result.faults > 0)
    print("faults: \(plan.testDescription): \(result.faults) of \(result.runs) runs")
  }

  @Test(arguments: [Database.Options.JournalMode.wal, .delete])
  func `without syncing, a power cut is detected to lose or damage data`(
    mode: Database.Options.JournalMode
  ) throws {
    let plan = Plan(journalMode: mode, kind: .power, isPersistent: false)
    let result = try Self.violations(plan, runs: 60, isDurable: false)
    #expect(result.violations.count > 0)
    print("control: \(mode): \(result.violations.count) violations in \(result.runs) runs")
  }

  @Test(arguments: [false, true])
  func `unreadable data throws and isn't reported as missing`(isPersistent: Bool) throws {
    let disk = try FaultDisk(.wal)
    disk.options.maximumReaderCount = 1
    for call in 1...8 {
      try disk.reset(to: nil)
      let database = try Database(path: disk.folder.file("data"), options: disk.options)
      // The reader's cached schema doesn't contain the table.
      #expect(try database.read { try $0.objects(of: Note.self) } == [])
      try database.write { try $0.update(Note("a", 1)) }
      disk.arm(.init(kind: .error, call: Int64(call), isPersistent: isPersistent))
      defer { disk.repair() }
      do {
        let notes = try database.read { try $0.objects(of: Note.self) }
        #expect(notes == [Note("a", 1)], "call \(call)")
      } catch let error as SQLiteError {
        #expect(error.code.primary == .inputOutput, "call \(call): \(error)")
      }
      disk.repair()
      #expect(try database.read { try $0.objects(of: Note.self) } == [Note("a", 1)])
      try database.close()
    }
  }

  static func violations(
    _ plan: Plan, runs: Int, isDurable: Bool = true
  ) throws -> (runs: Int, faults: Int, violations: [String]) {
    let base = try FaultDisk(plan.journalMode)
    try prepare(base)
    let disk = try FaultDisk(plan.journalMode, isDurable: isDurable, in: base.folder)
    var violations: [String] = []
    var (count, faults) = (0, 0)
    // Some runs begin with an empty disk, so that creating a store fails, too.
    for (source, share) in [(base as FaultDisk?, 4), (nil, 1)] {
      var run = FaultRun(disk, from: source)
      let calls = try run.calls(of: plan.kind)
      let wanted = Int64(clamping: runs / 5 * share)
      let stride = max(1, Double(calls) / Double(max(1, wanted)))
      var position = 1.0
      while Int64(position) <= calls {
        let call = Int64(position)
        position += stride
        // In one of three cuts, no unsynced data survives.
        let isHarsh = !plan.isPersistent && call % 3 == 0
        let seed = isHarsh ? 0 : UInt64(call) * 2 + (plan.isPersistent ? 1 : 0) + Self.seed << 32
        let fault = FaultDisk.Fault(
          kind: plan.kind, call: call, isPersistent: plan.isPersistent,
          seed: plan.kind == .power ? seed : 0)
        count += 1
        do {
          if try run.run(fault) { faults += 1 }
        } catch {
          violations.append("\(fault) \(source == nil ? "from an empty disk" : ""): \(error)")
        }
      }
    }
    return (count, faults, violations)
  }

  /// Creates the tables of all layers, without assets.
  private static func prepare(_ disk: FaultDisk) throws {
    let store = try disk.open()
    try store.run(.setAll("a", 1))
    try store.run(.removeAll("a"))
    try store.magic.database.close()
  }
}
