import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Measurements of the peak of the process's resident memory during an operation. Supported on
/// Linux with glibc.
enum PeakMemory {
  /// Runs `work` and returns its result and the difference between the peak of resident memory
  /// during `work` and the value before it. The difference is nil if the system doesn't report it.
  static func rise<Result>(during work: () throws -> Result) throws -> (Result, Int?) {
    #if canImport(Glibc)
      // Free pages of earlier runs would hide the memory that this run needs.
      try trimHeap()
      // Writing 5 resets the peak to the current value: proc(5), clear_refs.
      try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
      let before = try status("VmRSS")
      let result = try work()
      return (result, max(0, try status("VmHWM") - before))
    #else
      return (try work(), nil)
    #endif
  }

  #if canImport(Glibc)
    /// Returns free pages to the system. Looks `malloc_trim` up at run time, because Swift's Glibc
    /// module lacks it.
    private static func trimHeap() throws {
      typealias MallocTrim = @convention(c) (Int) -> Int32
      guard let symbol = unsafe dlsym(nil, "malloc_trim") else {
        throw Failure("the C library has no malloc_trim")
      }
      _ = unsafe unsafeBitCast(symbol, to: MallocTrim.self)(0)
    }
  #endif

  /// Returns a value of /proc/self/status in bytes.
  private static func status(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
      let count = Int(kibibytes)
    else { throw Failure("/proc/self/status does not contain \(name)") }
    return count * 1024
  }
}
