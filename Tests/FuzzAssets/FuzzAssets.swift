import Fuzzing

/// Checks file names of assets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { AssetNames.check(unsafe copy(start, count)) }
  return 0
}
