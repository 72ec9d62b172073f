import Foundation

/// A checksum of a sequence of values. Equal results have equal checksums.
///
/// It is cheap to compute, because the case `scan` includes it in the measured time.
struct Checksum: Equatable {
  private var state: UInt64 = 0

  init() {}

  init(of items: [Item]) {
    for item in items { add(item) }
  }

  mutating func add(_ word: UInt64) {
    state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
    state ^= state >> 32
  }

  /// Adds another checksum.
  mutating func add(_ other: Checksum) {
    // Mixes in a constant first: the XOR of a state with an equal state would always be zero.
    add(1 as UInt64)
    add(other.state)
  }

  mutating func add(_ integer: Int64) {
    add(UInt64(bitPattern: integer))
  }

  mutating func add(_ real: Double) {
    add(real.bitPattern)
  }

  mutating func addNull() {
    add(0x6E75_6C6C as UInt64)
  }

  mutating func add(_ bytes: RawSpan) {
    let count = bytes.byteCount
    add(UInt64(count))
    var offset = 0
    while offset + 8 <= count {
      add(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < count {
      rest = rest << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
    add(rest)
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(unsafe UnsafeRawBufferPointer($0).bytes) }
  }

  mutating func add(_ data: Data) {
    unsafe data.withUnsafeBytes { add(unsafe $0.bytes) }
  }

  mutating func add(_ item: Item) {
    add(item.id)
    add(item.name)
    add(item.quantity)
    add(item.price)
    add(item.isActive ? 1 : 0 as Int64)
    if let note = item.note { add(note) } else { addNull() }
    if let rating = item.rating { add(rating) } else { addNull() }
    add(item.payload)
  }
}
