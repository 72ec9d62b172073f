import Platform

/// Returns a copy of `count` bytes of memory that Swift doesn't manage. The library copies all such
/// memory into arrays with this function.
///
/// In Swift 6.3.1 with `-O`, an array created by `[UInt8](UnsafeRawBufferPointer)` may be freed
/// before it is filled, if the array is unused on some path (a write after free). Arrays created
/// with `unsafeUninitializedCapacity` are not affected.
package func copiedBytes(_ pointer: UnsafeRawPointer?, count: Int) -> [UInt8] {
  guard let pointer = unsafe pointer, count > 0 else { return [] }
  if count <= 512 {
    // The initializer below looks up its type at run time, which takes longer than copying a few
    // bytes.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(
        start: pointer.assumingMemoryBound(to: UInt8.self), count: count))
    return bytes
  }
  return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(
      from: UnsafeRawBufferPointer(start: pointer, count: count))
    initialized = count
  }
}

/// Returns whether two texts have the same bytes. Swift's `==` also treats canonically equivalent
/// texts as equal, but SQLite doesn't.
func sameBytes(_ left: String, _ right: String) -> Bool {
  // If both share their memory, like the SQL of a cached statement, the bytes need no comparison
  // (benchmark `point`).
  if isSameText(left, right) { return true }
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

/// Returns whether two strings have the same representation in memory: equal short texts, or shared
/// storage.
@inline(__always) func isSameText(_ left: String, _ right: String) -> Bool {
  guard let left = words(of: left), let right = words(of: right) else { return false }
  return left == right
}

/// Returns the two machine words of a string's representation; nil on a platform where a string
/// isn't two 64-bit words.
@inline(__always) func words(of text: String) -> (UInt64, UInt64)? {
  guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return nil }
  // Proof: A value of two words without padding can be read as two integers of the same size.
  return unsafe unsafeBitCast(text, to: (UInt64, UInt64).self)
}

/// Returns whether `text` contains a NUL, at which the text would end in C.
@inline(never)
func containsNUL(_ text: String) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    unsafe bytes.baseAddress.map { unsafe memchr($0, 0, bytes.count) != nil } ?? false
  }
}

/// Returns whether the bytes of `part` occur in `text`.
@inline(never)
func containsBytes(_ text: String, _ part: StaticString) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    let count = part.utf8CodeUnitCount
    guard var cursor = bytes.baseAddress, count > 0 else { return false }
    var left = bytes.count
    // Advance from one occurrence of the first byte to the next.
    while left >= count {
      guard let found = unsafe memchr(cursor, Int32(part.utf8Start.pointee), left - count + 1)
      else {
        return false
      }
      if unsafe memcmp(found, part.utf8Start, count) == 0 { return true }
      let next = unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
      left -= unsafe next - cursor
      unsafe cursor = next
    }
    return false
  }
}

/// Returns `count` bytes of UTF-8 as text; nil if they are not valid UTF-8.
@inline(__always)
func text(copying pointer: UnsafePointer<UInt8>, count: Int) -> String? {
  let bytes = unsafe UnsafeBufferPointer(start: pointer, count: count)
  let text = unsafe String(decoding: bytes, as: UTF8.self)
  return unsafe isASCII(bytes) || isText(text, of: bytes) ? text : nil
}

/// Returns whether bytes are valid UTF-8.
func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
  unsafe isASCII(bytes) || isText(String(decoding: bytes, as: UTF8.self), of: bytes)
}

/// Returns whether all bytes are ASCII, and therefore valid UTF-8.
@inline(__always)
private func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
  let raw = UnsafeRawBufferPointer(bytes)
  var seen: UInt64 = 0
  if raw.count < 8 {
    for cursor in raw.indices { unsafe seen |= UInt64(raw[cursor]) }
  } else {
    // The last eight bytes may overlap the previous ones.
    let last = raw.count - 8
    var cursor = 0
    while cursor < last {
      unsafe seen |= raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self)
      cursor += 8
    }
    unsafe seen |= raw.loadUnaligned(fromByteOffset: last, as: UInt64.self)
  }
  return seen & 0x8080_8080_8080_8080 == 0
}

/// Returns whether decoding has preserved the bytes. Decoding repairs invalid bytes, so preserved
/// bytes are valid. `String(validating:)` takes 500 more instructions per text (benchmark `fetch`).
@inline(never)
private func isText(_ text: String, of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
  var text = text
  return text.withUTF8 { kept in
    guard kept.count == bytes.count else { return false }
    guard let first = kept.baseAddress, let second = bytes.baseAddress else { return true }
    return unsafe memcmp(first, second, kept.count) == 0
  }
}

/// A non-null address for empty texts and blobs. SQLite would treat a null pointer as NULL.
var emptyBytes: UnsafeRawPointer { unsafe UnsafeRawPointer(StaticString("").utf8Start) }

/// Returns `text` with the letters A to Z in lower case. SQLite compares identifiers in this form.
@inline(never)
package func asciiLowercased(_ text: String) -> String {
  var text = text
  let lowercased = text.withUTF8 { bytes -> String? in
    guard unsafe bytes.contains(where: { (65...90).contains($0) }) else { return nil }
    return unsafe String(unsafeUninitializedCapacity: bytes.count) { buffer in
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        unsafe buffer[index] = (65...90).contains(byte) ? byte | 32 : byte
      }
      return bytes.count
    }
  }
  return lowercased ?? text
}
