import SQLiteCore

extension ObjectStorage {
  /// A property: its value, and the number of its last change.
  struct Slot: Sendable {
    var form: _CellValue.Form
    // In the rest of the form's third word: a number of 56 bits, which an object that changes all the time reaches
    // in years.
    private var high: UInt8 = 0
    private var middle: UInt16 = 0
    private var low: UInt32 = 0

    /// The greatest number of a change.
    static var lastChange: Int { 1 << 56 - 1 }

    init(_ form: consuming _CellValue.Form) {
      self.form = form
    }

    /// The number of the last change, 0 for none.
    var change: Int {
      @inline(__always) get { Int(low) | Int(middle) << 32 | Int(high) << 48 }
      set {
        low = UInt32(truncatingIfNeeded: newValue)
        middle = UInt16(truncatingIfNeeded: newValue >> 32)
        high = UInt8(truncatingIfNeeded: newValue >> 48)
      }
    }
  }

  /// The properties of an object, lent while its state is locked.
  @safe struct Slots {
    private let start: UnsafeMutablePointer<Slot>
    let count: Int

    @unsafe init(_ start: UnsafeMutablePointer<Slot>, count: Int) {
      unsafe self.start = start
      self.count = count
    }

    @inline(__always) private func checked(_ slot: Int) -> Int {
      precondition(slot >= 0 && slot < count)
      return slot
    }

    subscript(slot: Int) -> _CellValue.Form {
      @inline(__always) get { unsafe start[checked(slot)].form }
    }

    /// All values.
    var forms: [_CellValue.Form] {
      // Grown by appending: an array that is made of a count looks its type up (benchmark `fetch`).
      var forms: [_CellValue.Form] = []
      forms.reserveCapacity(count)
      for slot in 0..<count { forms.append(unsafe start[slot].form) }
      return forms
    }

    /// Copies of all properties.
    var copies: SlotCopies {
      let copies = SlotCopies(capacity: count)
      copy(to: copies)
      return copies
    }

    /// Appends all properties to others.
    @inline(__always)
    func copy(to copies: SlotCopies) { unsafe copies.append(from: start, count: count) }

    /// Whether a property was changed since the object had a number of changes.
    @inline(__always) func isChanged(_ slot: Int, since count: Int) -> Bool {
      unsafe start[checked(slot)].change > count
    }

    /// The number of a property's last change.
    func change(of slot: Int) -> Int { unsafe start[checked(slot)].change }

    /// Notes the number of a property's last change.
    func note(_ change: Int, of slot: Int) { unsafe start[checked(slot)].change = change }

    /// Sets a property, and returns its former form.
    @inline(__always)
    func exchange(_ form: consuming _CellValue.Form, _ slot: Int) -> _CellValue.Form {
      unsafe swap(&start[checked(slot)].form, &form)
      return form
    }

    /// Sets a property that holds nothing yet.
    @inline(__always)
    func fill(_ form: consuming _CellValue.Form, _ slot: Int) {
      unsafe start[checked(slot)].form = form
    }

    /// Sets a value that a store made, and adds the former one to `former`.
    func settle(
      _ form: _CellValue.Form, _ slot: Int, _ former: inout [(slot: Int, form: _CellValue.Form)]?
    ) {
      // An equal value is not written.
      if case .stored(let value) = form, case .stored(value) = self[slot] { return }
      former = (former ?? []) + [(slot, exchange(form, slot))]
    }

    /// Sets the ids of assets, which are others in each store, unless the assets were set since.
    func settleAssets(
      _ known: SlotCopies, _ shape: ObjectShape, since count: Int,
      _ former: inout [(slot: Int, form: _CellValue.Form)]?
    ) {
      for slot in 0..<known.count where shape.properties[slot].role.isAsset {
        guard case .stored = known[slot], case .stored = self[slot], !isChanged(slot, since: count)
        else { continue }
        settle(known[slot], slot, &former)
      }
    }

    /// Whether a value may hold other objects.
    var holdsOthers: Bool { (0..<count).contains { self[$0].holdsOthers } }

    /// Takes out the values that may hold other objects.
    func takeHolders(_ held: inout [_CellValue.Form]) {
      for slot in 0..<count where self[slot].holdsOthers { held.append(exchange(.unset, slot)) }
    }
  }
}

/// Copies of the properties of many objects, one behind the other.
///
/// In memory of its own, since an array copies and frees its elements by calls that ask each for its kind, several
/// times as long (benchmarks `insert` and `update`).
///
/// Proof: it is changed only by the call that fills it, before any other thread has a reference to it.
/// ``withForm(_:_:)`` is called by the one thread that writes a graph, and leaves the form as it was.
@safe final class SlotCopies: @unchecked Sendable {
  typealias Slot = ObjectStorage.Slot

  // The pointer leads to room for `capacity` slots, of which the first `filled` are initialized. The check for
  // exclusive access would cost as much as copying a slot.
  @exclusivity(unchecked) private var start: UnsafeMutablePointer<Slot>
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var filled = 0
  @exclusivity(unchecked) private var lives = 0

  init(capacity: Int) {
    unsafe self.capacity = capacity
    unsafe start = .allocate(capacity: capacity)
  }

  /// The number of slots.
  var count: Int { unsafe filled }

  /// The number of slots that were ever appended with more than SQLite stores.
  var liveCount: Int { unsafe lives }

  deinit {
    for place in 0..<count where unsafe !start[place].form.isBits {
      unsafe (start + place).deinitialize(count: 1)
    }
    unsafe start.deallocate()
  }

  /// Makes room for more slots.
  func reserve(_ more: Int) {
    guard unsafe count + more > capacity else { return }
    unsafe capacity = max(count + more, capacity * 2)
    let larger = unsafe UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    unsafe larger.moveInitialize(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = larger
  }

  /// Appends copies of slots.
  @unsafe func append(from slots: UnsafePointer<Slot>, count more: Int) {
    reserve(more)
    let end = unsafe start + count
    for slot in 0..<more {
      if unsafe slots[slot].form.isBits {
        // Proof: a value that is nothing but bits may be copied as these.
        unsafe UnsafeMutableRawPointer(end + slot).copyMemory(
          from: slots + slot, byteCount: MemoryLayout<Slot>.size)
      } else {
        if case .live = unsafe slots[slot].form { unsafe lives += 1 }
        unsafe (end + slot).initialize(to: slots[slot])
      }
    }
    unsafe filled += more
  }

  /// Removes the last slots.
  func removeLast(_ less: Int) {
    for place in count - less..<count { unsafe (start + checked(place)).deinitialize(count: 1) }
    unsafe filled -= less
  }

  /// The values that may hold other objects.
  var holders: [_CellValue.Form] { (0..<count).map { self[$0] }.filter(\.holdsOthers) }

  /// Whether a slot holds more than SQLite stores.
  func isLive(_ place: Int) -> Bool {
    if case .live = unsafe start[checked(place)].form { true } else { false }
  }

  @inline(__always) private func checked(_ place: Int) -> Int {
    precondition(place >= 0 && place < count)
    return place
  }

  subscript(place: Int) -> _CellValue.Form {
    @inline(__always) get { unsafe start[checked(place)].form }
    set { unsafe start[checked(place)].form = newValue }
  }

  /// Notes that a lazy value was changed, which its property does not count.
  func noteChange(_ place: Int) { unsafe start[checked(place)].change = Slot.lastChange }

  /// The number of the last change of the property at a place.
  @inline(__always) func change(_ place: Int) -> Int { unsafe start[checked(place)].change }

  /// Lends the form at a place to a closure, which leaves it as it was.
  @inline(__always)
  func withForm<Result>(
    _ place: Int, _ body: (inout _CellValue.Form) throws -> Result
  ) rethrows -> Result {
    try unsafe body(&start[checked(place)].form)
  }
}

extension _CellValue.Form {
  /// Whether the value holds no reference, so that its bits are all of it.
  @inline(__always) fileprivate var isBits: Bool {
    switch self {
    case .unset, .reference, .links, .lazy: true
    case .stored(.null), .stored(.integer), .stored(.real): true
    case .stored(.text), .stored(.blob), .data, .live, .targets: false
    }
  }
}
