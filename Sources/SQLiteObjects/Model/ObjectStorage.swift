import SQLiteAssets
import SQLiteCore
import Synchronization

/// The values of one object, and its identity in each store.
///
/// Proof: a ``Head`` is never written again, but for what is atomic in it, and the state, which is a `Mutex`;
/// the properties are read and written only while that is locked, and by ``make(_:_:_:)`` and `deinit`, which
/// nobody else runs at the same time.
package final class ObjectStorage: @unchecked Sendable {
  /// The fixed part of an object, before its properties.
  private struct Head: ~Copyable {
    let shape: ObjectShape
    let fetchedZIndex: Int64
    let isFetched: Bool
    let handedOut = Atomic(false)
    let count: UInt16
    /// A value's `deinit` may read the object: so no value is released while this is locked. A function that
    /// replaces one returns it, and no code of the user's runs.
    let state: Mutex<State>
  }

  // The object has no stored properties: a head and the properties follow it in the one piece of memory that
  // is allocated for it, as `ManagedBufferPointer` lays it out: a header of no size, then words.
  //
  // Proof that this is sound: the memory is as large as a head and the properties, which need the alignment of
  // a word; both are initialized by ``make(_:_:_:)`` before anybody else has the object, and
  // deinitialized by `deinit` when nobody has it any more. Their addresses are used only while a method runs, whose
  // caller keeps the object.
  private typealias Memory = ManagedBufferPointer<Void, UInt>

  private init() {}

  /// The memory behind the two words that each Swift object begins with.
  private var memory: UnsafeMutableRawPointer {
    @inline(__always) get {
      unsafe Unmanaged.passUnretained(self).toOpaque() + 2 * MemoryLayout<UInt>.stride
    }
  }

  private var head: UnsafeMutablePointer<Head> {
    @inline(__always) get { unsafe memory.assumingMemoryBound(to: Head.self) }
  }

  private var slots: UnsafeMutablePointer<Slot> {
    @inline(__always) get {
      unsafe (memory + MemoryLayout<Head>.stride).assumingMemoryBound(to: Slot.self)
    }
  }

  var shape: ObjectShape {
    @inline(__always) get { unsafe head.pointee.shape }
  }

  /// The z_index that the object was fetched by, or nil if it was made.
  var fetchedZIndex: Int64? {
    unsafe head.pointee.isFetched ? head.pointee.fetchedZIndex : nil
  }

  /// Makes the storage of an object.
  ///
  /// - Parameters:
  ///   - shape: The object's type.
  ///   - identity: The identity in the store that the object was fetched from.
  ///   - form: Returns the value of each property, one after the other.
  @inline(__always)
  static func make(
    _ shape: ObjectShape, _ identity: (content: StoreContent, zIndex: Int64)?,
    _ form: (_ slot: Int) throws -> CellValue.Form
  ) rethrows -> ObjectStorage {
    let storage = allocate(shape, identity)
    let slots = unsafe storage.slots
    let count = unsafe Int(storage.head.pointee.count)
    var slot = 0
    do {
      while slot < count {
        unsafe (slots + slot).initialize(to: Slot(try form(slot)))
        slot += 1
      }
    } catch {
      // For its `deinit`.
      while slot < count {
        unsafe (slots + slot).initialize(to: Slot(.unset))
        slot += 1
      }
      throw error
    }
    return storage
  }

  /// Allocates an object whose properties are to be initialized.
  private static func allocate(
    _ shape: ObjectShape, _ identity: (content: StoreContent, zIndex: Int64)?
  ) -> ObjectStorage {
    // There are at most as many as ``CellIndex`` has numbers for.
    let count = UInt16(truncatingIfNeeded: shape.properties.count)
    let size = MemoryLayout<Head>.stride + Int(count) * MemoryLayout<Slot>.stride
    let buffer = Memory(
      bufferClass: self, minimumCapacity: (size + 7) / MemoryLayout<UInt>.stride
    ) { _, _ in }
    let storage = unsafe unsafeDowncast(buffer.buffer, to: ObjectStorage.self)
    unsafe storage.head.initialize(
      to: Head(
        shape: shape, fetchedZIndex: identity?.zIndex ?? 0, isFetched: identity != nil,
        count: count,
        state: Mutex(State(content: identity?.content, zIndex: identity?.zIndex ?? 0))))
    return storage
  }

  /// Makes the storage of an object that is saved for the first time.
  static func make(_ shape: ObjectShape) -> ObjectStorage { make(shape, nil) { _ in .unset } }

  deinit {
    let held = takeHolders()
    unsafe slots.deinitialize(count: Int(head.pointee.count))
    unsafe head.deinitialize(count: 1)
    IterativeRelease.forms(consume held)
  }

  /// Takes out the values that may hold other objects.
  private func takeHolders() -> [CellValue.Form] {
    guard shape.mayHoldOthers else { return [] }
    return withState { state, slots in
      var held: [CellValue.Form] = []
      slots.takeHolders(&held)
      guard let extras = state.extras, let originals = unsafe extras.originals else { return held }
      unsafe extras.originals = nil
      return held + originals.holders
    }
  }

  /// Locks the state, and lends it with the properties.
  @inline(__always)
  func withState<Result: Sendable>(_ body: (inout State, Slots) -> Result) -> Result {
    let slots = unsafe Slots(slots, count: Int(head.pointee.count))
    return unsafe head.pointee.state.withLock { body(&$0, slots) }
  }

  /// The result of letting an object's cells lead to a storage.
  enum Adoption {
    case all
    /// No cell: the first one leads to another storage already.
    case none
    case some
  }

  /// Lets the cells of an object lead here from now on, and takes over what they hold.
  ///
  /// - Parameters:
  ///   - cells: The cells.
  ///   - copies: Gets a slot for each property if all cells lead here.
  ///   - context: The context that the cells hold.
  func adopt(_ cells: FoundCells, to copies: SlotCopies?, in context: FetchContext?) -> Adoption {
    // A task that follows a cell that leads here already waits for the others.
    withState { _, slots in
      func adopt(_ slot: Int, _ bound: consuming ValueBox.State) -> Bool {
        guard let form = cells.adopt(slot, by: bound) else { return false }
        slots.fill(form, slot)
        return true
      }
      var slot = 0
      // Four at once: their references to this are counted by one atomic addition (benchmark `insert`).
      while slot + 4 <= slots.count {
        let first = ValueBox.State.bound(self, slot: slot, context)
        let second = ValueBox.State.bound(self, slot: slot + 1, context)
        let third = ValueBox.State.bound(self, slot: slot + 2, context)
        let fourth = ValueBox.State.bound(self, slot: slot + 3, context)
        guard adopt(slot, first) else { return slot == 0 ? .none : .some }
        guard adopt(slot + 1, second), adopt(slot + 2, third), adopt(slot + 3, fourth) else {
          return .some
        }
        slot += 4
      }
      while slot < slots.count {
        guard adopt(slot, .bound(self, slot: slot, context)) else {
          return slot == 0 ? .none : .some
        }
        slot += 1
      }
      if let copies { slots.copy(to: copies) }
      return .all
    }
  }

  subscript(slot: Int) -> CellValue.Form { withState { _, slots in slots[slot] } }

  /// All values.
  var forms: [CellValue.Form] { withState { _, slots in slots.forms } }

  /// Lends what a property holds.
  @inline(__always)
  func read<Result: Sendable>(_ slot: Int, _ body: (CellValue.Form) -> Result) -> Result {
    withState { _, slots in body(slots[slot]) }
  }

  /// Returns whether an object was ever made of a fetched storage: others cannot have changed.
  var isHandedOut: Bool { unsafe head.pointee.handedOut.load(ordering: .relaxed) }

  /// Notes that an object is made of the storage.
  func handOut() {
    if !isHandedOut { unsafe head.pointee.handedOut.store(true, ordering: .relaxed) }
  }

  /// Sets a value, a relation in the form that keeps objects of one fetch from holding each other.
  func set(_ form: CellValue.Form, at slot: Int, in context: FetchContext?) {
    let property = shape.properties[slot]
    let kept = context?.form(of: form, for: property) ?? form
    if let context, property.isEager, kept.holdsOthers { context.group.note(holder: self) }
    set(kept, at: slot)
  }

  /// The form of a property, with the number of its last change.
  func slot(_ slot: Int) -> (form: CellValue.Form, change: Int) {
    withState { _, slots in (slots[slot], slots.change(of: slot)) }
  }

  /// Replaces the form of a property by one that leads to the same objects, unless the property was set meanwhile.
  func replace(_ slot: Int, _ form: CellValue.Form, since change: Int) {
    // The replaced form is released when the lock is free again.
    _ = withState { _, slots in
      slots.isChanged(slot, since: change) ? form : slots.exchange(form, slot)
    }
  }

  /// The message for a value that was read before it was set.
  func missing(_ slot: Int) -> String {
    "\(shape.typeName).\(shape.properties[slot].name) was read, but it was never set"
  }

  func set(_ form: CellValue.Form, at slot: Int) {
    let known = shape.mayHoldOthers ? originalsWithoutObjects : nil
    _ = withState { state, slots in
      let extras = state.madeExtras()
      if let identity = state.identity, unsafe extras.originals == nil {
        let isKnown = known?.isOf(identity, state.changeCount) ?? false
        unsafe extras.originals = isKnown ? known?.forms : slots.copies
      }
      unsafe extras.changeCount += 1
      slots.note(unsafe extras.changeCount, of: slot)
      return slots.exchange(form, slot)
    }
  }

  /// The values that a store knows, without the objects that they lead to.
  private struct Originals: Sendable {
    let identity: Identity
    let changeCount: Int
    let forms: SlotCopies

    /// Whether no task has saved or set anything meanwhile.
    func isOf(_ present: Identity, _ changeCount: Int) -> Bool {
      changeCount == self.changeCount && present.savedCount == identity.savedCount
        && present.zIndex == identity.zIndex && present.store == identity.store
    }
  }

  /// The values that the store knows, without objects that they lead to: these would be kept for as long as the
  /// change is not saved, and might lead back here. Nil if the originals are there, or no store knows the object.
  private var originalsWithoutObjects: Originals? {
    let found = withState { state, slots -> Originals? in
      guard let identity = state.identity, state.originals == nil else { return nil }
      return Originals(identity: identity, changeCount: state.changeCount, forms: slots.copies)
    }
    guard let known = found else { return nil }
    for (slot, property) in shape.properties.enumerated() {
      switch (property.role.kind, known.forms[slot]) {
      // Links are known by their targets' numbers.
      case (.links, _): known.forms[slot] = .unset
      case (.object, .live(let live)) where fetchedZIndex == nil:
        // Another object's lock is taken here, so this one's must be free.
        guard let object = live.value as? any MagicObject else { continue }
        known.forms[slot] =
          object.zIndex(in: known.identity.store).map { .reference($0) } ?? .lazy
      case (.object, .targets(let targets)):
        known.forms[slot] =
          targets.first?.zIndex(in: known.identity.store).map { .reference($0) } ?? .lazy
      default: continue
      }
    }
    return known
  }

  /// Keeps a value that was made of the stored one, unless another task was first.
  ///
  /// - Returns: The value that is kept.
  func cache(_ live: LiveValue, at slot: Int) -> LiveValue {
    let (held, _) = withState { _, slots -> (LiveValue, CellValue.Form) in
      if case .live(let other) = slots[slot] { return (other, .unset) }
      return (live, slots.exchange(.live(live), slot))
    }
    return held
  }
}

extension ObjectStorage {
  /// Returns whether a property was set since the object was saved or fetched.
  func isSet(_ slot: Int) -> Bool {
    withState { state, slots in slots.isChanged(slot, since: state.savedCount) }
  }

  /// The asset of a property, if a store has the object: it may have got content there since. Nil for a
  /// property that was set to nil and not saved yet.
  func assetHandle(at slot: Int) -> AssetHandle? {
    let found = withState {
      state, slots -> (identity: Identity, value: Value, cache: AssetCache)? in
      guard let identity = state.identity, case .stored(let value) = slots[slot],
        !value.isNull || !slots.isChanged(slot, since: identity.savedCount)
      else { return nil }
      return (identity, value, state.assetCache(of: slot))
    }
    guard let (identity, value, cache) = found else { return nil }
    return AssetHandle(
      content: identity.content, shape: shape, slot: slot, zIndex: identity.zIndex,
      lastID: try? AssetID(databaseValue: value), cache: cache)
  }
}
