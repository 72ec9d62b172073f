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
    _ form: (_ slot: Int) throws -> _CellValue.Form
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
    func destroy() {
      unsafe slots.deinitialize(count: Int(head.pointee.count))
      unsafe head.deinitialize(count: 1)
    }
    let holdsOthers =
      shape.mayHoldOthers
      && withState { state, slots in slots.holdsOthers || state.originals != nil }
    if holdsOthers { IterativeRelease.holder(destroy) { takeHolders() } } else { destroy() }
  }

  /// Takes out the values that may hold other objects.
  private func takeHolders() -> [_CellValue.Form] {
    withState { state, slots in
      var held: [_CellValue.Form] = []
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

  subscript(slot: Int) -> _CellValue.Form { withState { _, slots in slots[slot] } }

  /// All values.
  var forms: [_CellValue.Form] { withState { _, slots in slots.forms } }

  /// Lends what a property holds.
  @inline(__always)
  func read<Result: Sendable>(_ slot: Int, _ body: (_CellValue.Form) -> Result) -> Result {
    withState { _, slots in body(slots[slot]) }
  }

  /// Returns whether an object was ever made of a fetched storage: others cannot have changed.
  var isHandedOut: Bool { unsafe head.pointee.handedOut.load(ordering: .relaxed) }

  /// Notes that an object is made of the storage.
  func handOut() {
    if !isHandedOut { unsafe head.pointee.handedOut.store(true, ordering: .relaxed) }
  }

  /// The form of a property, with the number of its last change.
  func slot(_ slot: Int) -> (form: _CellValue.Form, change: Int) {
    withState { _, slots in (slots[slot], slots.change(of: slot)) }
  }

  /// Replaces the form of a property by one that leads to the same objects, unless the property was set meanwhile.
  func replace(_ slot: Int, _ form: _CellValue.Form, since change: Int) {
    // The replaced form is released when the lock is free again.
    _ = withState { _, slots in
      slots.isChanged(slot, since: change) ? form : slots.exchange(form, slot)
    }
  }

  /// The message for a value that was read before it was set.
  func missing(_ slot: Int) -> String {
    "\(shape.typeName).\(shape.properties[slot].name) was read, but it was never set"
  }

  /// Keeps a value that was made of the stored one, unless another task was first.
  ///
  /// - Returns: The value that is kept.
  func cache(_ live: _LiveValue, at slot: Int) -> _LiveValue {
    let (held, _) = withState { _, slots -> (_LiveValue, _CellValue.Form) in
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
}
