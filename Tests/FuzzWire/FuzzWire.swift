import Fuzzing

/// Sends arbitrary bytes to a cluster's client.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try WireFuzz.check(unsafe copy(start, count)) }
  return 0
}
