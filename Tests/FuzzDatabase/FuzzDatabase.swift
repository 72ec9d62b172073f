import Fuzzing

/// Opens and reads database images.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  DatabaseImage.use(unsafe copy(start, count))
  return 0
}
