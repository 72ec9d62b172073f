import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// How far the process's resident memory rises while work is done, as Linux tells it.
enum PeakMemory {
  /// Does `work` and returns, beside its result, the highest resident memory meanwhile less that
  /// before; nil where the system does not tell.
  static func rise<Result>(during work: () throws -> Result) throws -> (Result, Int?) {
    #if canImport(Glibc)
      // Pages that earlier runs freed would hide what this one takes.
      try trimHeap()
      // 5 sets the highest mark back to what is resident now: proc(5), clear_refs.
      try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
      let before = try status("VmRSS")
      let result = try work()
      return (result, max(0, try status("VmHWM") - before))
    #else
      return (try work(), nil)
    #endif
  }

  #if canImport(Glibc)
    /// Gives free pages back to the system: malloc_trim, which Swift's Glibc module lacks.
    private static func trimHeap() throws {
      typealias MallocTrim = @convention(c) (Int) -> Int32
      guard let symbol = unsafe dlsym(nil, "malloc_trim") else {
        throw Failure("the C library has no malloc_trim")
      }
      _ = unsafe unsafeBitCast(symbol, to: MallocTrim.self)(0)
    }
  #endif

  /// Returns a figure of /proc/self/status in bytes.
  private static func status(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
      let count = Int(kibibytes)
    else { throw Failure("/proc/self/status does not tell \(name)") }
    return count * 1024
  }
}
