import CSQLite
import Platform

/// A byte buffer that grows at its end. ``ChangeRecorder`` encodes the changed rows into it.
///
/// It is faster than an array, which checks its uniqueness and its capacity on each append.
@safe final class ChangesetBuffer {
  private var start: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0
  /// Whether an allocation has failed, so that bytes are missing.
  private(set) var isFull = false

  deinit { unsafe free(start) }

  /// Reserves `size` bytes at the end and returns a pointer to them; nil if memory is exhausted.
  @inline(__always)
  private func reserve(_ size: Int) -> UnsafeMutableRawPointer? {
    if count + size > capacity, !grow(size) { return nil }
    guard let start = unsafe start else { return nil }
    return unsafe start + count
  }

  @inline(never)
  private func grow(_ size: Int) -> Bool {
    let wanted = max(count + size, capacity * 2, 4096)
    guard let grown = unsafe realloc(start, wanted) else {
      isFull = true
      return false
    }
    unsafe start = unsafe grown
    capacity = wanted
    return true
  }

  @inline(__always)
  func append(_ code: UInt8) {
    guard let end = unsafe reserve(1) else { return }
    unsafe end.storeBytes(of: code, as: UInt8.self)
    count += 1
  }

  /// Appends a field code and a 64-bit number in big-endian byte order.
  @inline(__always)
  private func append(_ code: UInt8, _ number: UInt64) {
    guard let end = unsafe reserve(9) else { return }
    unsafe end.storeBytes(of: code, as: UInt8.self)
    unsafe (end + 1).storeBytes(of: number.bigEndian, as: UInt64.self)
    count += 9
  }

  /// Overwrites the big-endian 32-bit number at `place`.
  @inline(__always)
  func set(_ number: UInt32, at place: Int) {
    guard let start = unsafe start, place + 4 <= count else { return }
    unsafe (start + place).storeBytes(of: number.bigEndian, as: UInt32.self)
  }

  /// Appends the header of a row. Returns the position at which `endRow` must write the row's size.
  @inline(__always)
  func beginRow(
    _ kind: RowChange.Kind, flags: UInt8, slot: Int, _ oldRowID: Int64, _ rowID: Int64
  ) -> Int {
    let place = count + 6
    guard let end = unsafe reserve(26) else { return place }
    unsafe end.storeBytes(of: kind.rawValue, as: UInt8.self)
    unsafe (end + 1).storeBytes(of: flags, as: UInt8.self)
    unsafe (end + 2).storeBytes(of: UInt32(truncatingIfNeeded: slot).bigEndian, as: UInt32.self)
    unsafe (end + 10).storeBytes(of: oldRowID.bigEndian, as: Int64.self)
    unsafe (end + 18).storeBytes(of: rowID.bigEndian, as: Int64.self)
    count += 26
    return place
  }

  /// Writes the size of the last row at the position that `beginRow` returned, and returns the
  /// size.
  @inline(__always)
  func endRow(_ place: Int) -> Int {
    let size = count - place - 4
    set(UInt32(truncatingIfNeeded: size), at: place)
    return size
  }

  /// Appends bytes unchanged.
  func append(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0, let source = bytes.baseAddress,
      let end = unsafe reserve(bytes.count)
    else { return }
    unsafe end.copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends a value in the format of a changeset.
  ///
  /// - Parameters:
  ///   - value: The value to append.
  ///   - isReal: Whether to write an integer as a real, because its column has REAL affinity.
  @inline(__always)
  func append(_ value: ValueView, isReal: Bool) {
    switch value.type {
    case SQLITE_INTEGER where !isReal:
      append(FieldCode.integer, UInt64(bitPattern: value.convertedInteger))
    case SQLITE_FLOAT, SQLITE_INTEGER: append(FieldCode.real, value.convertedReal.bitPattern)
    case SQLITE_TEXT: unsafe append(value.textBytesInPlace, as: FieldCode.text)
    case SQLITE_BLOB: unsafe append(value.bytes(ofText: false), as: FieldCode.blob)
    default: append(FieldCode.null)
    }
  }

  /// Appends a text or a blob with its code and size.
  func append(_ bytes: UnsafeRawBufferPointer, as code: UInt8) {
    append(code)
    if bytes.count < 0x80 {
      append(UInt8(bytes.count))
    } else {
      var size: [UInt8] = []
      size.append(varint: UInt64(bytes.count))
      for byte in size { append(byte) }
    }
    unsafe append(bytes)
  }

  /// Returns the position after the value that begins at `place`.
  @inline(__always)
  func endOfValue(at place: Int) -> Int {
    guard let start = unsafe start, place < count else { return count }
    var end = place + 1
    switch unsafe start.load(fromByteOffset: place, as: UInt8.self) {
    case FieldCode.integer, FieldCode.real: end += 8
    case FieldCode.text, FieldCode.blob:
      var size = 0
      var next: UInt8
      // SQLite limits values to 2 GB, so a size has at most five bytes.
      repeat {
        guard end < count, end - place < 6 else { return count }
        unsafe next = start.load(fromByteOffset: end, as: UInt8.self)
        size = size << 7 | Int(next & 0x7f)
        end += 1
      } while next >= 0x80
      end += size
    default: break
    }
    return min(end, count)
  }

  /// Removes the last value, which begins at `place`, if its bytes equal those in the range `other`
  /// of this buffer.
  ///
  /// - Returns: Whether the value was removed.
  @inline(__always)
  func removeLast(from place: Int, ifSameAs other: Range<Int>) -> Bool {
    let size = count - place
    guard size == other.count, let start = unsafe start,
      unsafe memcmp(start + place, start + other.lowerBound, size) == 0
    else { return false }
    count = place
    return true
  }

  /// Overwrites the bytes that begin at `place`.
  func overwrite(_ place: Int, with bytes: UnsafeRawBufferPointer) {
    guard let start = unsafe start, let source = bytes.baseAddress, place >= 0,
      place + bytes.count <= count
    else { return }
    unsafe (start + place).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Appends a copy of bytes that this buffer already contains.
  func repeatBytes(_ range: Range<Int>) {
    guard let end = unsafe reserve(range.count), let start = unsafe start else { return }
    unsafe end.copyMemory(from: start + range.lowerBound, byteCount: range.count)
    count += range.count
  }

  /// Removes all bytes after the first `count`.
  func truncate(to count: Int) {
    self.count = min(self.count, max(0, count))
    if count == 0 { isFull = false }
    // Large transactions are rare, so don't keep their memory for small ones.
    if count == 0, capacity > 1 << 20 {
      unsafe free(start)
      unsafe start = nil
      capacity = 0
    }
  }

  /// Returns a copy of the bytes from `place` to the end.
  func bytes(from place: Int = 0) -> [UInt8] {
    unsafe copiedBytes(
      start.map { unsafe $0 + min(place, count) }, count: count - min(place, count))
  }
}
