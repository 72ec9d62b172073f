import Fuzzing

private let quoting = Result { try Quoting() }

/// Quotes literals and identifiers and lets SQLite read them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try quoting.get().check(unsafe copy(start, count)) }
  return 0
}
