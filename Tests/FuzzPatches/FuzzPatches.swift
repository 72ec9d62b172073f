import Fuzzing

/// Decodes, combines, rebases and applies changesets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try PatchBytes.check(unsafe copy(start, count)) }
  return 0
}
