import Foundation
import SQLiteAssets
import SystemFiles
import Synchronization

/// File operations that call the system, but can fail, be interrupted or transfer fewer bytes.
final class FaultyFileOperations: FileOperations {
  struct Plan: Sendable {
    /// The index of the call that fails, or nil if no call fails.
    var failing: Int?
    /// Whether all later calls fail, too.
    var isPersistent = false
    /// Whether the process is killed instead of the call failing.
    var isDeadly = false
    /// The error number of the failure.
    var number: Int32 = 5
    /// The calls that are counted, or nil for all calls.
    var calls: Set<String>?
    /// How often a signal interrupts each call before it runs.
    var interruptions = 0
    /// The maximum number of bytes that one read or write transfers.
    var longest = Int.max
    /// Whether clones are simulated, as on a file system that shares content between files.
    var clones = false
    /// An action that runs just before the first call with the name `call`.
    var meanwhile: (call: String, action: @Sendable () -> Void)?
  }

  private struct State {
    var plan: Plan
    var count = 0
    var log: [String] = []
    var interruptionsLeft = 0
  }

  /// The calls that open or change files or folders.
  static let changing = [
    "openat", "mkdirat", "renameat2", "linkat", "unlinkat", "fsync", "syncfs", "write",
  ]

  private let system = SystemFileOperations()
  private let state: Mutex<State>

  init(_ plan: Plan = Plan()) {
    state = Mutex(State(plan: plan, interruptionsLeft: plan.interruptions))
  }

  /// The number of counted calls.
  var count: Int { state.withLock { $0.count } }

  /// The names of all calls, in order.
  var log: [String] { state.withLock { $0.log } }

  /// Restarts counting with another plan.
  func follow(_ plan: Plan) {
    state.withLock { $0 = State(plan: plan, interruptionsLeft: plan.interruptions) }
  }

  /// Simulates a file system that shares content between files from now on.
  func simulateClones() {
    state.withLock { $0.plan.clones = true }
  }

  /// Counts a call that a test makes without these operations.
  func step() throws {
    try begin("step")
  }

  private var longest: Int { state.withLock { $0.plan.longest } }

  private func begin(_ call: String) throws(SystemFailure) {
    let action = state.withLock { state in
      guard state.plan.meanwhile?.call == call else { return nil as (@Sendable () -> Void)? }
      defer { state.plan.meanwhile = nil }
      return state.plan.meanwhile?.action
    }
    action?()
    let number: Int32? = state.withLock { state in
      if state.interruptionsLeft > 0 {
        state.interruptionsLeft -= 1
        return 4
      }
      state.interruptionsLeft = state.plan.interruptions
      state.log.append(call)
      guard state.plan.calls?.contains(call) ?? true else { return nil }
      defer { state.count += 1 }
      guard let failing = state.plan.failing else { return nil }
      let fails = state.count == failing || state.plan.isPersistent && state.count > failing
      return fails ? state.plan.number : nil
    }
    guard let number else { return }
    if state.withLock({ $0.plan.isDeadly }) { kill(getpid(), SIGKILL) }
    throw SystemFailure(call, number)
  }

  func open(path: String, _ flags: Int32) throws(SystemFailure) -> Int32 {
    try begin("open")
    return try system.open(path: path, flags)
  }

  func makeFolder(path: String) throws(SystemFailure) {
    try begin("mkdir")
    try system.makeFolder(path: path)
  }

  func open(_ name: String, in folder: Int32, _ flags: Int32) throws(SystemFailure) -> Int32 {
    try begin("openat")
    return try system.open(name, in: folder, flags)
  }

  func makeFolder(_ name: String, in folder: Int32) throws(SystemFailure) {
    try begin("mkdirat")
    try system.makeFolder(name, in: folder)
  }

  func move(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure) {
    try begin("renameat2")
    try system.move(name, from: folder, to: other, as: newName)
  }

  func link(
    _ name: String, from folder: Int32, to other: Int32, as newName: String
  ) throws(SystemFailure) {
    try begin("linkat")
    try system.link(name, from: folder, to: other, as: newName)
  }

  func replace(_ name: String, by newName: String, in folder: Int32) throws(SystemFailure) {
    try begin("renameat")
    try system.replace(name, by: newName, in: folder)
  }

  func remove(_ name: String, in folder: Int32) throws(SystemFailure) {
    try begin("unlinkat")
    try system.remove(name, in: folder)
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemFailure) {
    try begin("rmdir")
    try system.removeFolder(name, in: folder)
  }

  func names(in folder: Int32) throws(SystemFailure) -> [String] {
    try begin("readdir")
    return try system.names(in: folder)
  }

  func status(of file: Int32) throws(SystemFailure) -> FileStatus {
    try begin("fstat")
    return try system.status(of: file)
  }

  func read(_ count: Int, at offset: Int, of file: Int32) throws(SystemFailure) -> [UInt8] {
    try begin("pread")
    return try system.read(min(count, longest), at: offset, of: file)
  }

  func write(_ bytes: RawSpan, to file: Int32) throws(SystemFailure) -> Int {
    try begin("write")
    return try system.write(bytes.extracting(first: longest), to: file)
  }

  func clone(_ source: Int32, as name: String, in folder: Int32) throws(SystemFailure) {
    try begin("clone")
    guard state.withLock({ $0.plan.clones }) else {
      return try system.clone(source, as: name, in: folder)
    }
    let copy = try system.open(name, in: folder, O_WRONLY | O_CREAT | O_EXCL)
    defer { close(copy) }
    let bytes = try system.read(try system.status(of: source).size, at: 0, of: source)
    _ = try system.write(unsafe bytes.span.bytes, to: copy)
  }

  func sync(_ file: Int32, emptyingDriveCache: Bool) throws(SystemFailure) {
    try begin("fsync")
    try system.sync(file, emptyingDriveCache: emptyingDriveCache)
  }

  func syncFileSystem(of folder: Int32) throws(SystemFailure) {
    try begin("syncfs")
    try system.syncFileSystem(of: folder)
  }

  func lock(_ file: Int32, waiting: Bool) throws(SystemFailure) {
    try begin("flock")
    try system.lock(file, waiting: waiting)
  }

  func close(_ file: Int32) {
    system.close(file)
  }
}
