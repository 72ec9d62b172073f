import CFaultVFS
import Foundation
import MagicData
import Workload

/// Fails SQLite's allocations one by one: `memory <runs>` tests at most that many, `memory all`
/// tests each one.
///
/// The process must not have used SQLite before. The output is for humans; the exit code reports
/// success.
struct MemoryCommand {
  private static let steps: [Step] = [
    .set(.row, "a", 3), .set(.record, "a", 2), .set(.object, "a", 3), .set(.asset, "a", 1),
    .setAll("b", 5), .migrate(1), .set(.object, "a", 6), .set(.asset, "a", 4), .remove(.asset, "b"),
    .checkpoint,
  ]

  private let folder: String
  private var violations: [String] = []
  private var counts = (runs: 0, failures: 0, survived: 0)

  init() throws {
    let code = fault_memory_install()
    guard code == 0 else { throw SQLiteError(ResultCode(rawValue: code)) }
    let place = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    folder = "\(place)/magicdata-memory-\(UUID().uuidString)"
  }

  mutating func run(_ limit: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Creates what SQLite allocates once and keeps.
    _ = try work(failing: 0, isPersistent: false)
    let calls = try work(failing: 0, isPersistent: false)
    let kept = fault_memory_used()
    let stride = max(1, Double(calls) / Double(max(1, limit / 2)))
    for isPersistent in [false, true] {
      var position = 1.0
      while Int64(position) <= calls {
        _ = try work(failing: Int64(position), isPersistent: isPersistent)
        if fault_memory_used() != kept {
          record("\(Int64(position)): \(fault_memory_used() - kept) bytes leaked")
        }
        position += stride
      }
    }
    print(
      "memory: \(calls) allocations, \(counts.runs) runs, \(counts.failures) failures, "
        + "\(counts.survived) survived, \(violations.count) violations")
    for violation in violations.prefix(20) { print(violation) }
    if !violations.isEmpty { exit(1) }
  }

  private mutating func record(_ violation: String) { violations.append(violation) }

  /// Works with one fault, checks the store when memory is available again, and returns the number
  /// of allocations.
  private mutating func work(failing call: Int64, isPersistent: Bool) throws -> Int64 {
    let manager = FileManager.default
    if manager.fileExists(atPath: folder) { try manager.removeItem(atPath: folder) }
    try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)
    fault_memory_arm(call, isPersistent ? 1 : 0)
    defer { fault_memory_arm(0, 0) }
    counts.runs += 1
    var state: Step.State = [:]
    var store: Workload?
    var failed: Step?
    do {
      let opened = try open()
      store = opened
      for step in Self.steps {
        failed = step
        try opened.run(step)
        step.apply(to: &state)
        failed = nil
      }
      _ = try opened.state()
      if fault_memory_faults() > 0 { counts.survived += 1 }
    } catch {
      counts.failures += 1
      if !isExpected(error) { record("\(call) \(isPersistent): \(error)") }
    }
    let calls = fault_memory_calls()
    guard call > 0 else {
      try store?.magic.database.close()
      return calls
    }
    // Memory is available again, so the same store must work without being opened again.
    fault_memory_arm(0, 0)
    do {
      let store = try store ?? open()
      let found = try store.state()
      let possible = [state] + (failed.map { [$0.applied(to: state)] } ?? [])
      if !possible.contains(found) { record("\(call) \(isPersistent): \(possible) \(found)") }
      try store.run(.setAll("c", 7))
      let after = try store.state()
      if after != Step.setAll("c", 7).applied(to: found) { record("\(call): after: \(after)") }
      try store.magic.database.close()
      // Opening removes files that couldn't be removed then.
      let again = try open()
      try again.check()
      try again.magic.database.close()
    } catch {
      record("\(call) \(isPersistent): after: \(error)")
    }
    return calls
  }

  private func open() throws -> Workload {
    var options = Database.Options()
    // Durability isn't tested here.
    options.synchronous = .offMayCorruptOnPowerCut
    options.maximumReaderCount = 1
    return try Workload(path: folder, options: options)
  }

  private func isExpected(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return false }
    // SQLITE_IOERR_NOMEM, and the error of a transaction that lack of memory rolled back.
    let names: [ResultCode] = [.outOfMemory, .abortRollback, ResultCode(rawValue: 10 | 12 << 8)]
    return names.contains(error.code)
  }
}
