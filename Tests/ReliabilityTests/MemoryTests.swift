import Foundation
import Testing

/// Every allocation of SQLite fails in turn, once and from then on, in a process of its own.
///
/// `MAGICDATA_FAULTS` sets the number of runs, or is `all` for every allocation.
@Suite struct MemoryTests {
  @Test func `without memory calls throw, nothing leaks, and the store works on`() throws {
    let runs = ProcessInfo.processInfo.environment["MAGICDATA_FAULTS"] ?? "240"
    let result = try Helper.run("memory", runs)
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.wasKilled)
    print(result.output)
  }
}
