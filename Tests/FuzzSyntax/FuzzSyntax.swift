import Fuzzing

/// Parses SQL, compares the parser with SQLite, and prints the parsed statement.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try SyntaxFuzz.check(unsafe copy(start, count)) }
  return 0
}
