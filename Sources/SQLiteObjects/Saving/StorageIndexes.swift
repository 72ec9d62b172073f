/// The indexes of nodes by the addresses of their storages: a third of what a dictionary costs, whose
/// hash must withstand what comes from outside (benchmark `insert`).
struct StorageIndexes {
  /// Their number is a power of two; at least half of them are free.
  private var slots: [(key: ObjectIdentifier?, index: Int)] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// The index of a storage, or nil.
  func index(of key: ObjectIdentifier) -> Int? {
    if isEmpty { return nil }
    let slot = slot(of: key)
    return slots[slot].key == nil ? nil : slots[slot].index
  }

  /// Gives a storage an index, unless it has one, and returns the index that it has.
  mutating func index(of key: ObjectIdentifier, orElse next: Int) -> Int {
    if count * 2 >= slots.count { grow() }
    let slot = slot(of: key)
    if slots[slot].key != nil { return slots[slot].index }
    slots[slot] = (key, next)
    count += 1
    return next
  }

  /// The slot of a key, or the free one that it may have.
  private func slot(of key: ObjectIdentifier) -> Int {
    // The low bits of addresses are alike; a product spreads the others over the high ones.
    let product = UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
    var slot = Int(truncatingIfNeeded: product >> 24) & (slots.count - 1)
    while let other = slots[slot].key, other != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: (nil, 0), count: max(16, old.count * 2))
    for entry in old {
      if let key = entry.key { slots[slot(of: key)] = entry }
    }
  }
}
