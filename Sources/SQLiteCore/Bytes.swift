#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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

/// Says whether two texts have the same bytes. Swift's `==` finds canonically equivalent texts equal,
/// which to SQLite are two.
func sameBytes(_ left: String, _ right: String) -> Bool {
  var left = left
  var right = right
  return left.withUTF8 { left in
    right.withUTF8 { right in
      guard left.count == right.count else { return false }
      guard let first = left.baseAddress, let second = right.baseAddress else { return true }
      return unsafe memcmp(first, second, left.count) == 0
    }
  }
}

/// Says whether the bytes of `part` occur in `text`.
func containsBytes(_ text: String, _ part: StaticString) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    let count = part.utf8CodeUnitCount
    guard var place = bytes.baseAddress, count > 0 else { return false }
    var left = bytes.count
    // From one occurrence of the first byte to the next.
    while left >= count {
      guard let found = unsafe memchr(place, Int32(part.utf8Start.pointee), left - count + 1) else {
        return false
      }
      if unsafe memcmp(found, part.utf8Start, count) == 0 { return true }
      let next = unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
      left -= unsafe next - place
      unsafe place = next
    }
    return false
  }
}

/// Text of `count` bytes of UTF-8, or nil if they are not valid UTF-8.
func text(copying pointer: UnsafePointer<UInt8>?, count: Int) -> String? {
  guard let pointer = unsafe pointer, count > 0 else { return "" }
  var text = unsafe String(
    decoding: UnsafeBufferPointer(start: pointer, count: count), as: UTF8.self)
  // Decoding repairs what is not valid: bytes that it has kept were valid. `String(validating:)`
  // takes 500 instructions more for each text (benchmark `fetch`).
  let isValid = text.withUTF8 { bytes in
    guard let start = bytes.baseAddress, bytes.count == count else { return false }
    return unsafe memcmp(start, pointer, count) == 0
  }
  return isValid ? text : nil
}
