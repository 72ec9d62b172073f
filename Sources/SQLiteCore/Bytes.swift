/// The one place that copies foreign memory into an array.
///
/// Swift 6.3.1 with `-O` may free an array made by `[UInt8](UnsafeRawBufferPointer)` before it is
/// filled, if the array turns out unused on some path (a write after free). Arrays made with
/// `unsafeUninitializedCapacity` are not affected.
func bytes(copying pointer: UnsafeRawPointer?, count: Int) -> [UInt8] {
  guard let pointer = unsafe pointer, count > 0 else { return [] }
  return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(
      from: UnsafeRawBufferPointer(start: pointer, count: count))
    initialized = count
  }
}

/// Text of `count` bytes of UTF-8, or nil if they are not valid UTF-8.
func text(copying pointer: UnsafePointer<UInt8>?, count: Int) -> String? {
  guard let pointer = unsafe pointer, count > 0 else { return "" }
  return unsafe String(
    validating: UnsafeBufferPointer(start: pointer, count: count), as: UTF8.self)
}
