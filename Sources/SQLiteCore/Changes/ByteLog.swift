import CSQLite
import Platform

/// Bytes that grow at their end, for the rows that a ``ChangeRecorder`` writes down.
///
/// An array would be asked at each byte whether it is shared and how large it is.
@safe final class ByteLog {
  private var start: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0
  /// Whether there was no memory for something.
  private(set) var isFull = false

  deinit { unsafe free(start) }

  /// Makes room for some bytes, and returns where they go; nil if there is no memory.
  @inline(__always)
  private func room(_ size: Int) -> UnsafeMutableRawPointer? {
    if count + size > capacity { grow(size) }
    guard !isFull, let start = unsafe start else { return nil }
    return unsafe start + count
  }

  @inline(never)
  private func grow(_ size: Int) {
    let wanted = max(count + size, capacity * 2, 4096)
    guard let grown = unsafe realloc(start, wanted) else {
      isFull = true
      return
    }
    unsafe start = unsafe grown
    capacity = wanted
  }

  @inline(__always)
  func append<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    let size = MemoryLayout<Number>.size
    guard let end = unsafe room(size) else { return }
    unsafe end.storeBytes(of: number.bigEndian, as: Number.self)
    count += size
  }

  /// Replaces a number that was written at a place.
  @inline(__always)
  func set(_ number: UInt32, at place: Int) {
    guard let start = unsafe start, place + 4 <= count else { return }
    unsafe (start + place).storeBytes(of: number.bigEndian, as: UInt32.self)
  }

  /// Writes the header of a row, and returns the place of its size.
  @inline(__always)
  func beginRow(
    _ kind: RowChange.Kind, flags: UInt8, slot: Int, _ oldRowID: Int64, _ rowID: Int64
  ) -> Int {
    append(kind.rawValue)
    append(flags)
    append(UInt32(truncatingIfNeeded: slot))
    let place = count
    append(UInt32(0))
    append(UInt64(bitPattern: oldRowID))
    append(UInt64(bitPattern: rowID))
    return place
  }

  /// Writes the size of a row, and returns it.
  @inline(__always)
  func endRow(_ place: Int) -> Int {
    let size = count - place - 4
    set(UInt32(truncatingIfNeeded: size), at: place)
    return size
  }

  /// Writes bytes as they are.
  func append(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0, let source = bytes.baseAddress,
      let end = unsafe room(bytes.count)
    else { return }
    unsafe end.copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Writes a number as ``FieldCursor/varint()`` reads it.
  private func append(varint number: UInt64) {
    if number < 0x80 { return append(UInt8(number)) }
    var bytes: [UInt8] = []
    bytes.append(varint: number)
    for byte in bytes { append(byte) }
  }

  /// Writes a value as a changeset holds it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - isReal: Whether an integer is written as a real.
  @inline(__always)
  func append(_ value: ValueView, isReal: Bool) {
    switch value.type {
    case SQLITE_INTEGER where !isReal:
      append(FieldCode.integer)
      append(UInt64(bitPattern: value.convertedInteger))
    case SQLITE_FLOAT, SQLITE_INTEGER:
      append(FieldCode.real)
      append(value.convertedReal.bitPattern)
    case SQLITE_TEXT: unsafe append(value.textBytesInPlace, as: FieldCode.text)
    case SQLITE_BLOB: unsafe append(value.bytes(ofText: false), as: FieldCode.blob)
    default: append(FieldCode.null)
    }
  }

  /// Writes a text or a blob.
  func append(_ bytes: UnsafeRawBufferPointer, as code: UInt8) {
    append(code)
    append(varint: UInt64(bytes.count))
    unsafe append(bytes)
  }

  /// Takes back a value that begins at a place if it is the same as another one in this log.
  ///
  /// - Returns: Whether it was.
  @inline(__always)
  func removeLast(from place: Int, ifSameAs other: Range<Int>) -> Bool {
    let size = count - place
    guard size == other.count, let start = unsafe start,
      unsafe memcmp(start + place, start + other.lowerBound, size) == 0
    else { return false }
    count = place
    return true
  }

  /// Replaces bytes from a place on.
  func overwrite(_ place: Int, with bytes: UnsafeRawBufferPointer) {
    guard let start = unsafe start, let source = bytes.baseAddress, place >= 0,
      place + bytes.count <= count
    else { return }
    unsafe (start + place).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Writes bytes of this log once more.
  func repeatBytes(_ range: Range<Int>) {
    guard let end = unsafe room(range.count), let start = unsafe start else { return }
    unsafe end.copyMemory(from: start + range.lowerBound, byteCount: range.count)
    count += range.count
  }

  /// Drops what comes after the first bytes.
  func truncate(to count: Int) {
    self.count = min(self.count, max(0, count))
    if count == 0 { isFull = false }
    // A large transaction is rare; its memory is not kept for small ones.
    if count == 0, capacity > 1 << 20 {
      unsafe free(start)
      unsafe start = nil
      capacity = 0
    }
  }

  /// A copy of all bytes from a place on.
  func bytes(from place: Int = 0) -> [UInt8] {
    unsafe copiedBytes(
      start.map { unsafe $0 + min(place, count) }, count: count - min(place, count))
  }
}
