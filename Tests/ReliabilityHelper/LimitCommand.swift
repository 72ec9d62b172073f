import Foundation
import MagicData
import Workload

/// Writes until the file size limit and continues after it is raised: `limit <folder> <bytes>`.
struct LimitCommand {
  let folder: String
  let size: UInt64

  func run() throws {
    // Otherwise, exceeding the limit would end the process.
    signal(SIGXFSZ, SIG_IGN)
    let store = try Workload(path: folder)
    var state: Step.State = [:]
    var failures = 0
    for round in 0..<3 {
      try setLimit(size)
      var number = 1_000 * round
      var failure: (any Error)?
      while failure == nil, number < 1_000 * round + 900 {
        number += 1
        let step = Step.setAll("s\(number % 40) \(round)", number)
        do {
          try store.run(step)
          step.apply(to: &state)
        } catch {
          failure = error
          try setLimit(nil)
          let found = try store.state()
          guard [state, step.applied(to: state)].contains(found) else {
            throw SQLiteError(.error, "round \(round): unexpected state after \(error)")
          }
          state = found
        }
      }
      if failure != nil { failures += 1 }
      try setLimit(nil)
      // The limit is raised, so writes must succeed.
      try store.run(.setAll("after \(round)", 6))
      Step.setAll("after \(round)", 6).apply(to: &state)
      // Resets the WAL, which would stay too long for the next round.
      try store.magic.database.checkpoint(.truncate)
      for key in Set(state.keys.compactMap { $0.split(separator: " ").dropFirst().first }) {
        try store.run(.removeAll("\(key) \(round)"))
        Step.removeAll("\(key) \(round)").apply(to: &state)
      }
      try store.magic.database.withoutTransaction { try $0.executeChange("VACUUM") }
      try store.magic.database.checkpoint(.truncate)
      guard try store.state() == state else { throw SQLiteError(.error, "lost after \(round)") }
    }
    try store.check()
    print(failures)
  }

  /// Sets the maximum size of a file, or removes the limit if `size` is nil.
  private func setLimit(_ size: UInt64?) throws {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
      let resource = RLIMIT_FSIZE
    #endif
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = size.map { rlim_t($0) } ?? limit.rlim_max
    guard unsafe setrlimit(resource, &limit) == 0 else {
      throw SQLiteError(.error, "setrlimit: \(errno)")
    }
  }
}
