import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests content larger than memory. `MAGICDATA_LARGE` sets its size in MiB: 1024 for the figure in
/// the README, 64 in CI.
@Suite struct LargeAssetTests {
  static let size =
    ProcessInfo.processInfo.environment["MAGICDATA_LARGE"].flatMap { Int($0) } ?? 64

  @Test func `a large asset streams in and out in less than 50 MiB of memory`() async throws {
    let temporary = try TestFolder()
    // Runs in a separate process, so that no other test uses its memory.
    let output = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      [path = temporary.path as String, size = Self.size as Int] in
      let store = try await AssetStore(
        Database(path: "\(path)/data.sqlite3"), folder: "\(path)/assets")
      let before = try residentPeak()
      let start = ContinuousClock.now
      let record = try await store.put(Pieces(count: size * 4))
      let put = ContinuousClock.now
      var count = 0
      for try await piece in try await store.open(record.id).pieces() { count += piece.count }
      let read = ContinuousClock.now
      let copy = try await store.put(contentsOf: store.path(of: record.id))
      let copied = ContinuousClock.now
      #expect(record.size == size << 20)
      #expect(count == size << 20)
      #expect(copy.sha256 == record.sha256)
      let grown = try residentPeak() - before
      #expect(grown < 50 << 10)
      print(
        "\(size) MiB: put in \(put - start), read in \(read - put), copied in \(copied - read),",
        "with \(grown) KiB more memory than before")
    }
    if let output { print(String(decoding: output.standardOutputContent, as: UTF8.self)) }
  }
}

/// A sequence of pieces of 256 KiB.
private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
  var count: Int

  mutating func next() async -> [UInt8]? {
    guard count > 0 else { return nil }
    count -= 1
    return [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 256 << 10)
  }

  func makeAsyncIterator() -> Pieces { self }
}

/// Returns the process's peak memory so far, in KiB.
private func residentPeak() throws -> Int {
  #if os(Linux)
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? Int.max
  #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss / 1_024
  #endif
}
