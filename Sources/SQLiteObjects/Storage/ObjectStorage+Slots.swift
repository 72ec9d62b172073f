import SQLiteCore

extension ObjectStorage {
  /// The value of a property, and the number of its last change.
  struct Slot: Sendable {
    var form: _CellValue.Form
    // A change number of 56 bits in the unused part of the form's third word. An object that
    // changes all the time would take years to exhaust it.
    private var high: UInt8 = 0
    private var middle: UInt16 = 0
    private var low: UInt32 = 0

    /// The greatest change number that a slot can store.
    static var lastChange: Int { 1 << 56 - 1 }

    init(_ form: consuming _CellValue.Form) {
      self.form = form
    }

    /// The number of the last change, or 0 if there was none.
    var change: Int {
      @inline(__always) get { Int(low) | Int(middle) << 32 | Int(high) << 48 }
      set {
        low = UInt32(truncatingIfNeeded: newValue)
        middle = UInt16(truncatingIfNeeded: newValue >> 32)
        high = UInt8(truncatingIfNeeded: newValue >> 48)
      }
    }
  }

  /// The properties of an object, borrowed while its state is locked.
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

    /// A copy of the values of all properties, in the forms in which their cells store them.
    var forms: [_CellValue.Form] {
      // Built by appending: creating an array with a count looks up its type metadata (benchmark
      // `fetch`).
      var forms: [_CellValue.Form] = []
      forms.reserveCapacity(count)
      for slot in 0..<count { forms.append(unsafe start[slot].form) }
      return forms
    }

    /// Copies of the values of all properties, with their change numbers.
    var copies: SlotCopies {
      let copies = SlotCopies(capacity: count)
      copy(to: copies)
      return copies
    }

    /// Appends copies of all slots to `copies`.
    @inline(__always)
    func copy(to copies: SlotCopies) { unsafe copies.append(from: start, count: count) }

    /// Returns whether a property has a change number greater than `count`.
    @inline(__always) func isChanged(_ slot: Int, since count: Int) -> Bool {
      unsafe start[checked(slot)].change > count
    }

    /// Returns the number of a property's last change.
    func change(of slot: Int) -> Int { unsafe start[checked(slot)].change }

    /// Records `change` as the number of a property's last change.
    func register(_ change: Int, of slot: Int) { unsafe start[checked(slot)].change = change }

    /// Sets the form of a property, and returns the previous form.
    @inline(__always)
    func exchange(_ form: consuming _CellValue.Form, _ slot: Int) -> _CellValue.Form {
      unsafe swap(&start[checked(slot)].form, &form)
      return form
    }

    /// Sets the form of a property that has no value yet.
    @inline(__always)
    func fill(_ form: consuming _CellValue.Form, _ slot: Int) {
      unsafe start[checked(slot)].form = form
    }

    /// Sets a value that a store has assigned, and appends the previous form to `former`.
    func assign(
      _ form: _CellValue.Form, _ slot: Int, _ former: inout [(slot: Int, form: _CellValue.Form)]?
    ) {
      // Skip a value that is already set.
      if case .stored(let value) = form, case .stored(value) = self[slot] { return }
      former = (former ?? []) + [(slot, exchange(form, slot))]
    }

    /// Replaces the ids of assets, which differ between stores, with those in `known`. Skips assets
    /// that have been set since the change number `count`.
    func assignAssetIDs(
      _ known: SlotCopies, _ shape: ObjectShape, since count: Int,
      _ former: inout [(slot: Int, form: _CellValue.Form)]?
    ) {
      for slot in 0..<known.count where shape.properties[slot].role.isAsset {
        guard case .stored = known[slot], case .stored = self[slot], !isChanged(slot, since: count)
        else { continue }
        assign(known[slot], slot, &former)
      }
    }

    /// Whether the value of a property may hold references to other objects.
    var holdsObjects: Bool { (0..<count).contains { self[$0].holdsObjects } }

    /// Moves the values that may hold references to other objects to `held`.
    func takeHolders(_ held: inout [_CellValue.Form]) {
      for slot in 0..<count where self[slot].holdsObjects { held.append(exchange(.unset, slot)) }
    }
  }
}

/// Copies of the slots of many objects, contiguous in memory.
///
/// Uses manually allocated memory: an array copies and releases its elements through calls that
/// check the case of each one, which takes several times as long (benchmarks `insert` and
/// `update`).
///
/// Proof: only the call that fills an instance changes it, before any other thread has a reference
/// to it. ``withForm(_:_:)`` is called only by the thread that writes a graph, and leaves the form
/// unchanged.
@safe final class SlotCopies: @unchecked Sendable {
  typealias Slot = ObjectStorage.Slot

  // The pointer refers to memory for `capacity` slots, of which the first `filled` are initialized.
  // Checks for exclusive access would cost as much as copying a slot.
  @exclusivity(unchecked) private var start: UnsafeMutablePointer<Slot>
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var filled = 0
  @exclusivity(unchecked) private var lives = 0

  init(capacity: Int) {
    unsafe self.capacity = capacity
    unsafe start = .allocate(capacity: capacity)
  }

  /// The number of slots that the copies contain.
  var count: Int { unsafe filled }

  /// The number of slots with a value of a type that SQLite doesn't store, including slots that
  /// have been removed again.
  var liveCount: Int { unsafe lives }

  deinit {
    for place in 0..<count where unsafe !start[place].form.isBits {
      unsafe (start + place).deinitialize(count: 1)
    }
    unsafe start.deallocate()
  }

  /// Grows the memory so that it has room for `more` further slots.
  func reserve(_ more: Int) {
    guard unsafe count + more > capacity else { return }
    unsafe capacity = max(count + more, capacity * 2)
    let larger = unsafe UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    unsafe larger.moveInitialize(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = larger
  }

  /// Appends copies of `more` contiguous slots, which start at `slots`.
  @unsafe func append(from slots: UnsafePointer<Slot>, count more: Int) {
    reserve(more)
    let end = unsafe start + count
    for slot in 0..<more {
      if unsafe slots[slot].form.isBits {
        // Proof: a value without references may be copied bitwise.
        unsafe UnsafeMutableRawPointer(end + slot).copyMemory(
          from: slots + slot, byteCount: MemoryLayout<Slot>.size)
      } else {
        if case .live = unsafe slots[slot].form { unsafe lives += 1 }
        unsafe (end + slot).initialize(to: slots[slot])
      }
    }
    unsafe filled += more
  }

  /// Removes the last `less` slots.
  func removeLast(_ less: Int) {
    for place in count - less..<count { unsafe (start + checked(place)).deinitialize(count: 1) }
    unsafe filled -= less
  }

  /// The copied values that may hold references to other objects.
  var holders: [_CellValue.Form] { (0..<count).map { self[$0] }.filter(\.holdsObjects) }

  /// Returns whether a slot has a value of a type that SQLite doesn't store.
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

  /// Marks a slot with a lazy value as changed. Call it for a change inside the value, which
  /// doesn't increment the change number of the property.
  func recordChange(_ place: Int) { unsafe start[checked(place)].change = Slot.lastChange }

  /// Returns whether ``recordChange(_:)`` was called for a slot.
  func isChangedInside(_ place: Int) -> Bool { change(place) == Slot.lastChange }

  /// Returns the number of the last change of the slot at a position.
  @inline(__always) func change(_ place: Int) -> Int { unsafe start[checked(place)].change }

  /// Calls `body` with the form at a position. `body` must leave the form unchanged when it
  /// returns.
  @inline(__always)
  func withForm<Result>(
    _ place: Int, _ body: (inout _CellValue.Form) throws -> Result
  ) rethrows -> Result {
    try unsafe body(&start[checked(place)].form)
  }
}

extension _CellValue.Form {
  /// Whether the value contains no references, so that it can be copied bitwise.
  @inline(__always) fileprivate var isBits: Bool {
    switch self {
    case .unset, .reference, .links, .lazy: true
    case .stored(.null), .stored(.integer), .stored(.real): true
    case .stored(.text), .stored(.blob), .data, .live, .targets: false
    }
  }
}
