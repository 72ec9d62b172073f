import Fuzzing

private let column = Result { try JSONColumn() }

/// Decodes JSON in columns.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  expectNoFault { try column.get().check(unsafe copy(start, count)) }
  return 0
}
