/// A hash table that maps the storage of an object to the index of its node. A lookup takes a third
/// of the time of a lookup in a dictionary, because the hash doesn't have to resist hostile keys
/// (benchmark `insert`).
struct NodeIndexes {
  /// The hash table. The number of slots is a power of two, and at least half of them are free.
  private var slots: [(key: ObjectIdentifier?, index: Int)] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns the index of the node with a storage, or nil if there is none.
  func index(of key: ObjectIdentifier) -> Int? {
    if isEmpty { return nil }
    let slot = slot(of: key)
    return slots[slot].key == nil ? nil : slots[slot].index
  }

  /// Returns the index of the node with a storage. If there is none, registers `next` as its index.
  mutating func index(of key: ObjectIdentifier, orElse next: Int) -> Int {
    if count * 2 >= slots.count { grow() }
    let slot = slot(of: key)
    if slots[slot].key != nil { return slots[slot].index }
    slots[slot] = (key, next)
    count += 1
    return next
  }

  /// Returns the slot of a key or, if the table doesn't contain the key, the free slot for it.
  private func slot(of key: ObjectIdentifier) -> Int {
    // The low bits of addresses are alike. The product spreads the other bits over the high ones.
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
