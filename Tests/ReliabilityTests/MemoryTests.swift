import Foundation
import Testing

/// Tests that each allocation of SQLite can fail, once and persistently, in a separate process.
///
/// `MAGICDATA_FAULTS` sets the number of runs; `all` tests every allocation.
@Suite struct MemoryTests {
  @Test func `without memory, calls throw, nothing leaks, and the store recovers`() throws {
    let runs = ProcessInfo.processInfo.environment["MAGICDATA_FAULTS"] ?? "240"
    let result = try Helper.run("memory", runs)
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.wasKilled)
    print(result.output)
  }
}
