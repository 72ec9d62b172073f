import CSQLite
import Foundation

/// The machine and the software versions of a measurement.
struct Machine {
  /// The text above the table.
  let header: String

  init() throws {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let date = Date.now.formatted(.iso8601.year().month().day())
    let version = unsafe String(cString: sqlite3_libversion())
    #if DEBUG
      let build = "DEBUG BUILD, the times are meaningless: run with -c release"
    #else
      let build = "release build"
    #endif
    header = """
      \(try Self.processor), \(cores) cores, \(date)
      SQLite \(version), GRDB 7.10.0, \(build)
      \(try Self.output(of: ["swift", "--version"]))
      \(Pragmas.description)

      """
  }

  private static var processor: String {
    get throws {
      #if os(Linux)
        let information = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        let line = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = line?.split(separator: ":").last
        return name?.trimmingCharacters(in: .whitespaces) ?? "unnamed processor"
      #else
        return try output(of: ["sysctl", "-n", "machdep.cpu.brand_string"])
      #endif
    }
  }

  /// Returns the first line that a command prints.
  private static func output(of command: [String]) throws -> String {
    // A process that runs under valgrind can't start another one.
    if ProcessInfo.processInfo.environment["LD_PRELOAD"]?.contains("vgpreload") == true {
      return "\(command[0]): unknown under valgrind"
    }
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      return "\(command[0]): unknown"
    }
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
      ?? "\(command[0]): unknown"
  }
}
