import Foundation
import MagicData
import Testing
import TestSupport
import Workload

/// Every call of SQLite into the file system fails in turn, in each way there is.
///
/// `MAGICDATA_FAULTS` sets the number of runs of each test, or is `all` for every call;
/// `MAGICDATA_SEED` varies what survives a power cut.
@Suite struct FaultTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    let journalMode: Database.Options.JournalMode
    let kind: FaultDisk.Kind
    let isPersistent: Bool

    var testDescription: String {
      "\(kind), \(journalMode), \(isPersistent ? "from then on" : "once")"
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
        // A power cut lasts; its two halves are two sets of seeds.
        [false, true].map { Plan(journalMode: mode, kind: kind, isPersistent: $0) }
      }
    }
    + [.truncate, .persist].map { Plan(journalMode: $0, kind: .power, isPersistent: true) }

  @Test(arguments: plans)
  func `a fault loses nothing, and the store works on after it`(plan: Plan) throws {
    let result = try Self.violations(plan, runs: Self.runs)
    #expect(result.violations == [])
    #expect(result.faults > 0)
    print("faults: \(plan.testDescription): \(result.faults) of \(result.runs) runs")
  }

  @Test(arguments: [Database.Options.JournalMode.wal, .delete])
  func `without synchronizing, a power cut is seen to lose and to damage`(
    mode: Database.Options.JournalMode
  ) throws {
    let plan = Plan(journalMode: mode, kind: .power, isPersistent: false)
    let result = try Self.violations(plan, runs: 60, isDurable: false)
    #expect(result.violations.count > 0)
    print("control: \(mode): \(result.violations.count) violations in \(result.runs) runs")
  }

  @Test(arguments: [false, true])
  func `what cannot be read is not called missing`(isPersistent: Bool) throws {
    let disk = try FaultDisk(.wal)
    disk.options.maximumReaderCount = 1
    for call in 1...8 {
      try disk.reset(to: nil)
      let database = try Database(path: disk.folder.file("data"), options: disk.options)
      // The reader knows the schema without the table.
      #expect(try database.read { try $0.objects(of: Note.self) } == [])
      try database.write { try $0.update(Note("a", 1)) }
      disk.arm(.init(kind: .error, call: Int64(call), isPersistent: isPersistent))
      defer { disk.mend() }
      do {
        let notes = try database.read { try $0.objects(of: Note.self) }
        #expect(notes == [Note("a", 1)], "call \(call)")
      } catch let error as SQLiteError {
        #expect(error.code.primary == .inputOutput, "call \(call): \(error)")
      }
      disk.mend()
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
    // Some runs begin with nothing, so that making a store fails, too.
    for (source, share) in [(base as FaultDisk?, 4), (nil, 1)] {
      var run = FaultRun(disk, from: source)
      let calls = try run.calls(of: plan.kind)
      let wanted = Int64(clamping: runs / 5 * share)
      let stride = max(1, Double(calls) / Double(max(1, wanted)))
      var position = 1.0
      while Int64(position) <= calls {
        let call = Int64(position)
        position += stride
        // Nothing that was not synced survives one cut in three.
        let isHarsh = !plan.isPersistent && call % 3 == 0
        let seed = isHarsh ? 0 : UInt64(call) * 2 + (plan.isPersistent ? 1 : 0) + Self.seed << 32
        let fault = FaultDisk.Fault(
          kind: plan.kind, call: call, isPersistent: plan.isPersistent,
          seed: plan.kind == .power ? seed : 0)
        count += 1
        do {
          if try run.run(fault) { faults += 1 }
        } catch {
          violations.append("\(fault) \(source == nil ? "from nothing" : ""): \(error)")
        }
      }
    }
    return (count, faults, violations)
  }

  /// Makes the tables of everything, and leaves no asset.
  private static func prepare(_ disk: FaultDisk) throws {
    let store = try disk.open()
    try store.run(.setAll("a", 1))
    try store.run(.removeAll("a"))
    try store.magic.database.close()
  }
}
