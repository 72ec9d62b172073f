import Fuzzing

/// Decodes SPON and writes it again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try SPONText.check(unsafe copy(start, count)) }
  return 0
}
