/// The places of storages in a request, by their addresses: a third of what a dictionary costs, whose
/// hash must withstand what comes from outside (benchmark `insert`).
struct PlaceTable {
  /// As many as a power of two, at least half of them free.
  private var slots: [(key: ObjectIdentifier?, place: Int)]
  private var count = 0

  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    slots = Array(repeating: (nil, 0), count: size)
  }

  /// Gives a storage a place, unless it has one, and returns the place it has.
  mutating func place(of storage: ObjectStorage, orElse next: Int) -> Int {
    if count * 2 >= slots.count { grow() }
    let key = ObjectIdentifier(storage)
    let slot = slot(of: key)
    if slots[slot].key != nil { return slots[slot].place }
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
    slots = Array(repeating: (nil, 0), count: old.count * 2)
    for entry in old {
      if let key = entry.key { slots[slot(of: key)] = entry }
    }
  }
}
