/// Which property of which row a cell is, in one word.
struct CellIndex: Sendable, Hashable {
  private let bits: UInt64

  /// The most properties that a type may have, and the most types that one fetch may bring.
  static let limit = 1 << 12

  private init(bits: UInt64) {
    self.bits = bits
  }

  /// A property of an object whose row does not matter.
  init(slot: Int) {
    bits = UInt64(truncatingIfNeeded: slot)
  }

  /// The first property of a row.
  init(table: Int, row: Int) {
    bits = UInt64(truncatingIfNeeded: row) << 24 | UInt64(truncatingIfNeeded: table) << 12
  }

  var slot: Int { Int(truncatingIfNeeded: bits & 0xFFF) }
  var table: Int { Int(truncatingIfNeeded: bits >> 12 & 0xFFF) }
  var row: Int { Int(truncatingIfNeeded: bits >> 24) }

  /// A property of the same row.
  func at(_ slot: Int) -> CellIndex { CellIndex(bits: bits | UInt64(truncatingIfNeeded: slot)) }
}
