import Fuzzing

/// Reads names of asset files.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNothing { AssetNames.check(unsafe copy(start, count)) }
  return 0
}
