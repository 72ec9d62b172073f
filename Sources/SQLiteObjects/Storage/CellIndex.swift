/// The position of a cell: its row, type and property, packed into 64 bits.
struct CellIndex: Sendable, Hashable {
  private let bits: UInt64

  /// The maximum number of properties of a type, and the maximum number of types in a fetch: an
  /// index of either has 12 bits.
  static let limit = 1 << 12

  private init(bits: UInt64) {
    self.bits = bits
  }

  /// Creates the index of a property for an owner without rows: a ``ValueBox`` or an
  /// ``ObjectStorage``.
  init(slot: Int) {
    bits = UInt64(truncatingIfNeeded: slot)
  }

  /// Creates the index of the first property of a row in a table of a fetch.
  init(table: Int, row: Int) {
    bits = UInt64(truncatingIfNeeded: row) << 24 | UInt64(truncatingIfNeeded: table) << 12
  }

  var slot: Int { Int(truncatingIfNeeded: bits & 0xFFF) }
  var table: Int { Int(truncatingIfNeeded: bits >> 12 & 0xFFF) }
  var row: Int { Int(truncatingIfNeeded: bits >> 24) }

  /// Returns the index of a property in the same row. Call it on the index of the first property.
  func at(_ slot: Int) -> CellIndex { CellIndex(bits: bits | UInt64(truncatingIfNeeded: slot)) }
}
