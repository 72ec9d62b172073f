import Foundation

/// A program that measures a local cluster of three nodes compared with loops that send the same
/// messages, and a program that opens many stores.
///
///     swift run -c release ClusterBenchmarks [--requests N | --memory | --tenants FILES]
@main enum ClusterBenchmarks {
  static func main() async {
    do {
      var arguments = CommandLine.arguments.dropFirst()
      switch arguments.popFirst() {
      case nil: try await Requests(count: 2_000).run()
      case "--requests":
        guard let count = arguments.popFirst().flatMap({ Int($0) }), count > 0 else {
          return usage()
        }
        try await Requests(count: count).run()
      case "--memory": try NodeMemory().run()
      case "--tenants":
        guard let count = Int(arguments.popFirst() ?? "10000"), count > 0 else { return usage() }
        try Tenants(count: count).run()
      default: usage()
      }
    } catch {
      FileHandle.standardError.write(Data("ClusterBenchmarks: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func usage() {
    print("usage: ClusterBenchmarks [--requests N | --memory | --tenants FILES]")
    exit(64)
  }
}

/// A failure of the benchmark itself, such as a wrong result.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Returns the mean time of `count` calls in microseconds: the median of several rounds.
func microseconds(for count: Int, rounds: Int = 5, _ body: (Int) throws -> Void) throws -> Double {
  var times: [Double] = []
  var number = 0
  for _ in 0..<rounds {
    let start = ContinuousClock.now
    for _ in 0..<count {
      try body(number)
      number += 1
    }
    times.append((ContinuousClock.now - start) / .microseconds(1) / Double(count))
  }
  return times.sorted()[rounds / 2]
}

/// Returns the times of two implementations of the same operation. They alternate in each round, so
/// that load on the machine affects both.
func microseconds(
  for count: Int, rounds: Int = 5, _ first: (Int) throws -> Void,
  alternatingWith second: (Int) throws -> Void
) throws -> (Double, Double) {
  var times: [(Double, Double)] = []
  for round in 0..<rounds {
    let start = round * count
    times.append(
      (
        try microseconds(for: count, rounds: 1) { try first(start + $0) },
        try microseconds(for: count, rounds: 1) { try second(start + $0) }
      ))
  }
  return (times.map(\.0).sorted()[rounds / 2], times.map(\.1).sorted()[rounds / 2])
}

/// Returns a value of /proc/PID/status, such as `VmRSS` in KiB, or 0 if it is missing.
func kibibytes(_ name: String, of process: Int32) -> Int {
  let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
  return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
}
