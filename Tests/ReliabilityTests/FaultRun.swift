import MagicData
import Workload

/// A workload with one fault, and the check of its outcome.
struct FaultRun {
  /// A broken guarantee.
  struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  static let steps: [Step] = [
    .set(.row, "a", 3), .set(.record, "a", 2), .set(.object, "a", 3), .set(.asset, "a", 1),
    .set(.collection, "a", 1), .setAll("b", 5), .migrate(1), .set(.object, "a", 6),
    .set(.asset, "a", 4), .checkpoint,
    .remove(.object, "b"), .remove(.asset, "b"), .migrate(2), .set(.row, "a", 13),
    .set(.collection, "a", 8), .remove(.collection, "b"), .removeAll("a"),
  ]

  let disk: FaultDisk
  /// The initial content of the disk, or nil for an empty disk.
  let base: FaultDisk?
  private var store: Workload?
  private var state: Step.State = [:]
  /// The step that threw an error and may or may not have been applied.
  private var failed: Step?

  init(_ disk: FaultDisk, from base: FaultDisk?) {
    self.disk = disk
    self.base = base
  }

  /// Returns the number of calls that a kind of fault affects.
  mutating func calls(of kind: FaultDisk.Kind) throws -> Int64 {
    try disk.reset(to: base)
    disk.arm(.init(kind: kind, call: 0))
    for step in Self.steps {
      try opened().run(step)
      // The runs with faults read, too.
      if Self.reads(step) { _ = try opened().state() }
    }
    close()
    return disk.calls
  }

  private static func reads(_ step: Step) -> Bool {
    if case .setAll = step { true } else { false }
  }

  /// Works until the fault occurs, checks its effect, repairs the disk, and continues.
  ///
  /// - Returns: Whether the fault occurred.
  mutating func run(_ fault: FaultDisk.Fault) throws -> Bool {
    defer {
      close()
      disk.repair()
    }
    try disk.reset(to: base)
    disk.arm(fault)
    state = [:]
    failed = nil
    var steps = Self.steps[...]
    while let step = steps.first, disk.faults == 0 {
      do {
        try opened().run(step)
        step.apply(to: &state)
        steps.removeFirst()
        if Self.reads(step) { try expect([state], opened().state(), "before") }
      } catch let violation as Violation {
        throw violation
      } catch {
        guard disk.faults > 0 else { throw Violation("\(step) without a fault: \(error)") }
        failed = step
        try checkCode(of: error)
      }
    }
    guard disk.faults > 0 else {
      // The last call may be part of closing.
      close()
      guard disk.faults > 0 else { return false }
      try finish(fault)
      return true
    }
    if fault.isPersistent || fault.kind == .power { try retryDuringFault(steps) }
    try finish(fault)
    return true
  }

  /// Checks that nothing is lost while the fault lasts, whatever is tried.
  private mutating func retryDuringFault(_ steps: ArraySlice<Step>) throws {
    guard let step = steps.first else { return }
    for _ in 0..<2 {
      do {
        try opened().run(step)
        // Steps that need no more space, or only cached data, may succeed.
        state = step.applied(to: state)
        failed = nil
        return
      } catch {
        failed = step
        try checkCode(of: error)
      }
    }
  }

  /// Repairs the disk and checks that the acknowledged data exists and that the store works.
  private mutating func finish(_ fault: FaultDisk.Fault) throws {
    if fault.kind == .power {
      close()
      guard disk.openFiles == 0 else { throw Violation("\(disk.openFiles) files are open") }
      disk.restart(seed: fault.seed)
    } else {
      disk.repair()
    }
    let possible = failed?.outcomes(from: state) ?? [state]
    let found = try opened().state()
    guard possible.contains(found) else {
      throw Violation("expected \(possible), found \(found)")
    }
    // The store continues to work and has the same content when it is opened again.
    state = found
    for step in [Step.set(.row, "c", 20), .setAll("c", 21)] {
      try opened().run(step)
      step.apply(to: &state)
    }
    try expect([state], opened().state(), "after")
    close()
    guard disk.openFiles == 0 else { throw Violation("\(disk.openFiles) files are open") }
    try expect([state], opened().state(), "opened again")
    try opened().check()
  }

  private func expect(_ possible: [Step.State], _ found: Step.State, _ when: String) throws {
    guard possible.contains(found) else {
      throw Violation("\(when): expected \(possible), found \(found)")
    }
  }

  private func checkCode(of error: any Error) throws {
    guard let error = error as? SQLiteError else { throw Violation("not an SQLiteError: \(error)") }
    let names: [ResultCode] = [.inputOutput, .full, .cannotOpen, .abort, .lockingProtocol, .busy]
    guard names.contains(error.code.primary) else { throw Violation("unexpected code: \(error)") }
  }

  private mutating func opened() throws -> Workload {
    if let store { return store }
    let opened = try disk.open()
    store = opened
    return opened
  }

  private mutating func close() {
    // A failed checkpoint while closing loses nothing because the WAL remains.
    try? store?.magic.database.close()
    store = nil
  }
}
