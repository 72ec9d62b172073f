import Foundation

/// A program that measures SPON, collections and dumps.
///
///     swift run -c release PortableBenchmarks [codec|store|dump]
@main struct PortableBenchmarks {
  static func main() throws {
    let chosen = CommandLine.arguments.dropFirst()
    if chosen.isEmpty || chosen.contains("codec") { try Codecs.measure() }
    if chosen.isEmpty || chosen.contains("store") { try Collections.measure() }
    if chosen.isEmpty || chosen.contains("dump") { try Dumps.measure() }
  }

  /// Returns the duration of `work` in milliseconds.
  static func milliseconds(_ work: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(work)
    return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
  }

  /// Returns the mean duration of `count` runs as text in microseconds.
  static func microseconds(_ count: Int, _ work: (Int) throws -> Void) rethrows -> String {
    let total = try milliseconds { for index in 0..<count { try work(index) } }
    return String(format: "%.1f µs", total * 1_000 / Double(count))
  }
}
