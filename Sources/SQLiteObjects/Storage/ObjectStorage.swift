import SQLiteCore
import Synchronization

/// The values of one object, and the identity of the object in each store.
///
/// Proof: a ``Head`` is immutable, except for its atomic flag and its state, which is a `Mutex`.
/// The properties are accessed only while the state is locked, and by ``make(_:_:_:)`` and
/// `deinit`, which no other thread runs at the same time.
package final class ObjectStorage: @unchecked Sendable {
  /// The part of an object's memory that has a fixed size. The slots of the properties follow it.
  private struct Head: ~Copyable {
    let shape: ObjectShape
    let fetchedZIndex: Int64
    let isFetched: Bool
    let instantiated = Atomic(false)
    let count: UInt16
    /// The `deinit` of a value may read the object, so no value is released while this is locked. A
    /// function that replaces a value returns it, and no user code runs inside the lock.
    let state: Mutex<State>
  }

  // The class has no stored properties. A head and the properties follow it in the same allocation,
  // with the layout of `ManagedBufferPointer`: an empty header, then words.
  //
  // Proof that this is sound: the allocation has room for a head and the properties, which need the
  // alignment of a word. ``make(_:_:_:)`` initializes both before the reference is shared, and
  // `deinit` deinitializes them after the last reference is gone. Their addresses are used only
  // during a method, whose caller holds a reference.
  private typealias Memory = ManagedBufferPointer<Void, UInt>

  private init() {}

  /// The memory after the object's header, which consists of two words.
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

  /// The z_index that the object was fetched by, or nil if the program created it.
  var fetchedZIndex: Int64? {
    unsafe head.pointee.isFetched ? head.pointee.fetchedZIndex : nil
  }

  /// Creates the storage of an object.
  ///
  /// - Parameters:
  ///   - shape: The object's type.
  ///   - identity: The identity in the store that the object is fetched from, or nil.
  ///   - form: Returns the form of a property. It is called for each property in order.
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
      // `deinit` needs initialized slots.
      while slot < count {
        unsafe (slots + slot).initialize(to: Slot(.unset))
        slot += 1
      }
      throw error
    }
    return storage
  }

  /// Allocates an object with uninitialized properties.
  private static func allocate(
    _ shape: ObjectShape, _ identity: (content: StoreContent, zIndex: Int64)?
  ) -> ObjectStorage {
    // At most ``CellIndex/limit``.
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

  /// Creates the storage of an object that is saved for the first time.
  static func make(_ shape: ObjectShape) -> ObjectStorage { make(shape, nil) { _ in .unset } }

  deinit {
    func destroy() {
      unsafe slots.deinitialize(count: Int(head.pointee.count))
      unsafe head.deinitialize(count: 1)
    }
    let holdsObjects =
      shape.mayHoldObjects
      && withState { state, slots in slots.holdsObjects || state.originals != nil }
    if holdsObjects { IterativeRelease.holder(destroy) { takeHolders() } } else { destroy() }
  }

  /// Removes the values that may hold references to other objects, and returns them.
  private func takeHolders() -> [_CellValue.Form] {
    withState { state, slots in
      var held: [_CellValue.Form] = []
      slots.takeHolders(&held)
      guard let extras = state.extras, let originals = unsafe extras.originals else { return held }
      unsafe extras.originals = nil
      return held + originals.holders
    }
  }

  /// Calls `body` with the state and the properties while the state is locked.
  @inline(__always)
  func withState<Result: Sendable>(_ body: (inout State, Slots) -> Result) -> Result {
    let slots = unsafe Slots(slots, count: Int(head.pointee.count))
    return unsafe head.pointee.state.withLock { body(&$0, slots) }
  }

  subscript(slot: Int) -> _CellValue.Form { withState { _, slots in slots[slot] } }

  /// A copy of the values of all properties, in the forms in which their cells store them.
  var forms: [_CellValue.Form] { withState { _, slots in slots.forms } }

  /// Calls `body` with the form of a property while the state is locked.
  @inline(__always)
  func read<Result: Sendable>(_ slot: Int, _ body: (_CellValue.Form) -> Result) -> Result {
    withState { _, slots in body(slots[slot]) }
  }

  /// Whether an instance was created from a fetched storage. Otherwise the object can't have
  /// changed.
  var isInstantiated: Bool { unsafe head.pointee.instantiated.load(ordering: .relaxed) }

  /// Records that an instance was created from the storage.
  func markInstantiated() {
    if !isInstantiated { unsafe head.pointee.instantiated.store(true, ordering: .relaxed) }
  }

  /// Returns the form of a property and the number of its last change.
  func slot(_ slot: Int) -> (form: _CellValue.Form, change: Int) {
    withState { _, slots in (slots[slot], slots.change(of: slot)) }
  }

  /// Replaces the form of a property with another form of the same targets, unless the property has
  /// been set since its change number was `change`.
  func replace(_ slot: Int, _ form: _CellValue.Form, since change: Int) {
    // The replaced form is released after the lock.
    _ = withState { _, slots in
      slots.isChanged(slot, since: change) ? form : slots.exchange(form, slot)
    }
  }

  /// Returns the message with which the program stops if a property is read before it is set.
  func missing(_ slot: Int) -> String {
    "\(shape.typeName).\(shape.properties[slot].name) was read before it was set"
  }

  /// Caches a value that was created from the stored form, unless another task already has.
  ///
  /// - Returns: The cached value.
  func cache(_ live: _LiveValue, at slot: Int) -> _LiveValue {
    let (held, _) = withState { _, slots -> (_LiveValue, _CellValue.Form) in
      if case .live(let other) = slots[slot] { return (other, .unset) }
      return (live, slots.exchange(.live(live), slot))
    }
    return held
  }
}

extension ObjectStorage {
  /// Returns whether a property has been set since the last save or fetch.
  func isSet(_ slot: Int) -> Bool {
    withState { state, slots in slots.isChanged(slot, since: state.savedCount) }
  }
}
