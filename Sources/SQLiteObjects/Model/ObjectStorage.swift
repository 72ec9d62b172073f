import SQLiteAssets
import SQLiteCore
import Synchronization

/// The values of one object, and its identity in each store.
///
/// Proof: a ``Head`` is never written again, but for what is atomic in it, and the state, which is a `Mutex`;
/// the properties are read and written only while that is locked, and by ``make(_:_:_:)`` and `deinit`, which
/// nobody else runs at the same time.
package final class ObjectStorage: @unchecked Sendable {
  /// The identity of an object in a store.
  struct Identity: Sendable {
    /// The store, with the content that the object is in.
    let content: StoreContent
    let zIndex: Int64
    /// The number of the object's changes when it was saved there, or 0 for a fetch.
    fileprivate var savedCount = 0
    /// What else is known of the object there; nil for nothing.
    fileprivate var state: SavedState?

    fileprivate init(
      _ content: StoreContent, zIndex: Int64, savedCount: Int, _ state: SavedState?
    ) {
      self.content = content
      self.zIndex = zIndex
      self.savedCount = savedCount
      self.state = state
    }

    var store: StoreIdentity { content.identity }
    /// Whether the content of the store was not replaced since.
    var isCurrent: Bool { content.isCurrent }

    fileprivate func isPresent(in store: StoreIdentity) -> Bool {
      content.identity == store && content.isCurrent
    }
  }

  /// What most objects have not: links that a store has saved, or values that another store has changed.
  fileprivate final class SavedState: Sendable {
    /// The links that were saved, unless they were none. Others are known to the fetch.
    let links: [KnownLinks]?
    /// The values at the last save or fetch there, if another store got to know the object since.
    let originals: [CellValue.Form]?

    init(_ links: [KnownLinks]?, originals: [CellValue.Form]? = nil) {
      self.links = links
      self.originals = originals
    }
  }

  /// A property: its value, and the number of its last change.
  struct Slot: Sendable {
    var form: CellValue.Form
    // In the rest of the form's third word: a number of 56 bits, which an object that changes all the time reaches
    // in years.
    private var high: UInt8 = 0
    private var middle: UInt16 = 0
    private var low: UInt32 = 0

    init(_ form: consuming CellValue.Form) {
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

  /// The state of an object at the moment at which its values were taken.
  struct Snapshot: Sendable {
    /// The number of the object's changes.
    fileprivate let changeCount: Int
    /// Their number at the last save in the store, or at the fetch from it.
    let savedCount: Int
    /// Whether the store knew the object.
    let isKnown: Bool
    /// Whether the store knew the object before its content was replaced.
    let isOutdated: Bool
  }

  /// What only objects have that were changed, or that several stores know, or with links or assets.
  ///
  /// Proof: it is reached by the one ``State`` that holds it, while that is locked, and no
  /// function hands it out.
  private final class Extras: @unchecked Sendable {
    /// The number of the object's changes.
    @exclusivity(unchecked) var changeCount = 0
    /// Their number when the object was saved by its last identity, or 0 for a fetch.
    @exclusivity(unchecked) var savedCount = 0
    /// What else is known of the object there.
    @exclusivity(unchecked) var saved: SavedState?
    /// The values at the last save or fetch, if a property was set since.
    @exclusivity(unchecked) var originals: [CellValue.Form]?
    /// The identities in other stores.
    @exclusivity(unchecked) var otherIdentities: [Identity]?
    /// The contents of assets that somebody may hold, by their properties.
    @exclusivity(unchecked) var assetCaches: [Int: AssetCache]?
  }

  private struct State: Sendable {
    /// The store of the last save or fetch.
    var content: StoreContent?
    /// The object's key there.
    var zIndex: Int64 = 0
    var extras: Extras?

    /// The number of the object's changes.
    var changeCount: Int { unsafe extras?.changeCount ?? 0 }
    var otherIdentities: [Identity]? { unsafe extras?.otherIdentities }
    var originals: [CellValue.Form]? { unsafe extras?.originals }

    /// The identity in the store of the last save or fetch.
    var identity: Identity? {
      content.map { content in
        unsafe Identity(
          content, zIndex: zIndex, savedCount: extras?.savedCount ?? 0, extras?.saved)
      }
    }

    mutating func setIdentity(_ identity: Identity?) {
      content = identity?.content
      zIndex = identity?.zIndex ?? 0
      guard extras != nil || identity?.savedCount ?? 0 != 0 || identity?.state != nil else {
        return
      }
      let extras = madeExtras()
      unsafe extras.savedCount = identity?.savedCount ?? 0
      unsafe extras.saved = identity?.state
    }

    /// The extras, made if there are none.
    mutating func madeExtras() -> Extras {
      if let extras { return extras }
      let made = Extras()
      extras = made
      return made
    }

    mutating func setOtherIdentities(_ identities: [Identity]?) {
      guard extras != nil || identities != nil else { return }
      let extras = madeExtras()
      unsafe extras.otherIdentities = identities
    }

    mutating func setOriginals(_ originals: [CellValue.Form]?) {
      guard extras != nil || originals != nil else { return }
      let extras = madeExtras()
      unsafe extras.originals = originals
    }

    /// The content of an asset that somebody may hold, made if there is none.
    mutating func assetCache(of slot: Int) -> AssetCache {
      let extras = madeExtras()
      if let cache = unsafe extras.assetCaches?[slot] { return cache }
      let cache = AssetCache()
      unsafe extras.assetCaches = extras.assetCaches ?? [:]
      unsafe extras.assetCaches?[slot] = cache
      return cache
    }

    func identity(in store: StoreIdentity) -> Identity? {
      if isLast(in: store) { return identity }
      return otherIdentities?.first { $0.isPresent(in: store) }
    }

    func zIndex(in store: StoreIdentity) -> Int64? {
      if isLast(in: store) { return zIndex }
      return otherIdentities?.first { $0.isPresent(in: store) }?.zIndex
    }

    /// The number of changes at the last save by the last identity.
    var savedCount: Int { unsafe extras?.savedCount ?? 0 }

    /// Whether the last save or fetch was of the present content of a store. The identity is not copied.
    @inline(__always) private func isLast(in store: StoreIdentity) -> Bool {
      guard let content else { return false }
      return content.identity == store && content.isCurrent
    }

    /// What a store knows of the object.
    func snapshot(for store: StoreIdentity) -> Snapshot {
      if let content, content.identity == store {
        // No other identity is one in the same store.
        let isCurrent = content.isCurrent
        return Snapshot(
          changeCount: changeCount, savedCount: isCurrent ? savedCount : 0, isKnown: isCurrent,
          isOutdated: !isCurrent)
      }
      let other = otherIdentities?.first { $0.isPresent(in: store) }
      return Snapshot(
        changeCount: changeCount, savedCount: other?.savedCount ?? 0, isKnown: other != nil,
        isOutdated: isOutdated(in: store))
    }

    func isOutdated(in store: StoreIdentity) -> Bool {
      if let content, !content.isCurrent, content.identity == store { return true }
      return otherIdentities?.contains { !$0.isCurrent && $0.store == store } ?? false
    }

    mutating func removeIdentity(in store: StoreIdentity) {
      if let extras { unsafe extras.otherIdentities?.removeAll { $0.store == store } }
      guard content?.identity == store else { return }
      let next = extras.flatMap { unsafe $0.otherIdentities?.popLast() }
      setIdentity(next)
      guard let extras, let saved = next?.state, let before = saved.originals else { return }
      // The store that was last before that one is the last one again.
      unsafe extras.originals = before
      unsafe extras.saved = saved.links.map { SavedState($0) }
    }

    /// Notes that a store knows the object, and was the last to learn of it.
    ///
    /// - Parameter slots: The object's values.
    mutating func identify(_ new: Identity, _ slots: Slots) {
      if let content, content.identity != new.store, let other = identity {
        let extras = madeExtras()
        unsafe extras.otherIdentities?.removeAll { $0.store == new.store }
        let state = SavedState(
          other.state?.links, originals: unsafe extras.originals ?? slots.forms)
        let former = Identity(
          other.content, zIndex: other.zIndex, savedCount: other.savedCount, state)
        unsafe extras.otherIdentities = (extras.otherIdentities ?? []) + [former]
      }
      setIdentity(new)
    }
  }

  /// The properties of an object, lent while its state is locked.
  @safe private struct Slots {
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

    subscript(slot: Int) -> CellValue.Form {
      @inline(__always) get { unsafe start[checked(slot)].form }
    }

    /// All values.
    var forms: [CellValue.Form] {
      // Grown by appending: an array that is made of a count looks its type up (benchmark `fetch`).
      var forms: [CellValue.Form] = []
      forms.reserveCapacity(count)
      for slot in 0..<count { forms.append(unsafe start[slot].form) }
      return forms
    }

    /// Appends all properties to others.
    @inline(__always)
    func copy(to copies: SlotCopies) { unsafe copies.append(from: start, count: count) }

    /// Whether a property was changed since the object had a number of changes.
    @inline(__always) func isChanged(_ slot: Int, since count: Int) -> Bool {
      unsafe start[checked(slot)].change > count
    }

    /// Notes the number of a property's last change.
    func note(_ change: Int, of slot: Int) { unsafe start[checked(slot)].change = change }

    /// Sets a property, and returns its former form.
    @inline(__always)
    func exchange(_ form: consuming CellValue.Form, _ slot: Int) -> CellValue.Form {
      unsafe swap(&start[checked(slot)].form, &form)
      return form
    }

    /// Sets a property that holds nothing yet.
    @inline(__always)
    func fill(_ form: consuming CellValue.Form, _ slot: Int) {
      unsafe start[checked(slot)].form = form
    }

    /// Sets a value that a store made, and adds the former one to `gone`.
    func settle(_ form: CellValue.Form, _ slot: Int, _ gone: inout [CellValue.Form]?) {
      // An equal value is not written.
      if case .stored(let value) = form, case .stored(value) = self[slot] { return }
      let former = exchange(form, slot)
      if former.holdsOthers { gone = (gone ?? []) + [former] }
    }

    /// Sets the ids of assets, which are others in each store, unless the assets were set since.
    func settleAssets(
      _ known: [CellValue.Form], _ shape: ObjectShape, since count: Int,
      _ gone: inout [CellValue.Form]?
    ) {
      for slot in known.indices where shape.properties[slot].role.isAsset {
        guard case .stored = known[slot], case .stored = self[slot], !isChanged(slot, since: count)
        else { continue }
        settle(known[slot], slot, &gone)
      }
    }

    /// Takes out the values that may hold other objects.
    func takeHolders(_ held: inout [CellValue.Form]) {
      for slot in 0..<count where self[slot].holdsOthers { held.append(exchange(.unset, slot)) }
    }
  }

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
      return held + originals
    }
  }

  /// Locks the state, and lends it with the properties.
  @inline(__always)
  private func withState<Result: Sendable>(_ body: (inout State, Slots) -> Result) -> Result {
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
  func adopt(_ cells: FoundCells) -> Adoption {
    // A task that follows a cell that leads here already waits for the others.
    withState { _, slots in
      func adopt(_ slot: Int, _ bound: consuming ValueBox.State) -> Bool {
        guard case .box(let box) = cells[slot].owner, let form = box.adopt(by: bound) else {
          return false
        }
        slots.fill(form, slot)
        return true
      }
      var slot = 0
      // Four at once: their references to this are counted by one atomic addition (benchmark `insert`).
      while slot + 4 <= slots.count {
        let first = ValueBox.State.bound(self, slot: slot, nil)
        let second = ValueBox.State.bound(self, slot: slot + 1, nil)
        let third = ValueBox.State.bound(self, slot: slot + 2, nil)
        let fourth = ValueBox.State.bound(self, slot: slot + 3, nil)
        guard adopt(slot, first) else { return slot == 0 ? .none : .some }
        guard adopt(slot + 1, second), adopt(slot + 2, third), adopt(slot + 3, fourth) else {
          return .some
        }
        slot += 4
      }
      while slot < slots.count {
        guard adopt(slot, .bound(self, slot: slot, nil)) else { return slot == 0 ? .none : .some }
        slot += 1
      }
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
    set(context?.form(of: form, for: shape.properties[slot]) ?? form, at: slot)
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
        unsafe extras.originals = isKnown ? known?.forms : slots.forms
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
    var forms: [CellValue.Form]

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
      return Originals(identity: identity, changeCount: state.changeCount, forms: slots.forms)
    }
    guard var known = found else { return nil }
    for (slot, property) in shape.properties.enumerated() {
      switch (property.role.kind, known.forms[slot]) {
      // Links are known by their targets' numbers.
      case (.links, _): known.forms[slot] = .unset
      case (.object, .live(let live)) where fetchedZIndex == nil:
        // Another object's lock is taken here, so this one's must be free.
        guard let object = live.value as? any MagicObject else { continue }
        known.forms[slot] =
          object.zIndex(in: known.identity.store).map { .reference($0) } ?? .lazy
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

  /// Takes all values and changes as of one moment.
  ///
  /// - Parameters:
  ///   - store: A store.
  ///   - copies: Gets a slot for each property.
  /// - Returns: What the store knew of the object at that moment.
  func snapshot(for store: StoreIdentity, to copies: SlotCopies) -> Snapshot {
    withState { state, slots in
      slots.copy(to: copies)
      return state.snapshot(for: store)
    }
  }

  /// The values at the last save in a store, or at the fetch from it; nil if the store does not know the
  /// object.
  func originals(in store: StoreIdentity) -> [CellValue.Form]? {
    withState { state, slots in
      guard let identity = state.identity(in: store) else { return nil }
      return identity.state?.originals ?? state.originals ?? slots.forms
    }
  }

  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    withState { state, _ in state.zIndex(in: store) }
  }

  /// Whether a store knew the object before its content was replaced.
  func isOutdated(in store: StoreIdentity) -> Bool {
    withState { state, _ in state.isOutdated(in: store) }
  }

  /// The links of a property at the last save in a store, or at the fetch from it.
  ///
  /// - Parameters:
  ///   - slot: The property.
  ///   - store: The store.
  ///   - context: The fetch of the object.
  /// - Returns: The links, and the number of the object's changes then; nil if the object is not in the
  ///   store.
  func knownLinks(
    _ slot: Int, in store: StoreIdentity, _ context: FetchContext?
  ) -> (links: LinkTargets, changeCount: Int)? {
    let identity = withState { state, _ in state.identity(in: store) }
    guard let identity else { return nil }
    let changes = identity.savedCount
    if let known = identity.state?.links?.first(where: { $0.slot == slot }) {
      return (known.links, changes)
    }
    guard let context, context.token.identity == store, identity.zIndex == fetchedZIndex else {
      return (.none, changes)
    }
    return (context.links(of: self, slot: slot), changes)
  }

  /// The identity in the store of the last save or fetch.
  var lastIdentity: Identity? { withState { state, _ in state.identity } }

  /// Notes that the object is in a store, with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: The object's key there.
  ///   - content: The store.
  ///   - snapshot: The moment whose values were saved; later ones remain changes.
  ///   - values: The values that were saved.
  ///   - first: The place of the object's first property in them.
  ///   - settled: The values that the store made: a number that it counted up, an asset's id.
  ///   - links: The links that were written.
  func saved(
    as zIndex: Int64, in content: StoreContent, _ snapshot: Snapshot, _ values: SlotCopies,
    first: Int, settled: [(slot: Int, form: CellValue.Form)]?, links: [KnownLinks]?
  ) {
    let (store, count) = (content.identity, snapshot.changeCount)
    let shape = shape
    // The replaced values are released when the lock is free again.
    _ = withState { state, slots -> Replaced in
      var replaced = Replaced(state.content, state.extras.flatMap { unsafe $0.saved })
      replaced.otherIdentities = state.otherIdentities
      let known = state.otherIdentities?.first { $0.store == store }?.state?.originals
      var links = links
      if let extras = state.extras, unsafe extras.saved != nil || extras.otherIdentities != nil,
        let before = state.identity(in: store), before.zIndex == zIndex,
        let former = before.state?.links, !former.isEmpty
      {
        let written = links ?? []
        links = written + former.filter { known in !written.contains { $0.slot == known.slot } }
      }
      if state.extras == nil, links == nil, state.content.map({ $0.identity == store }) ?? true {
        (state.content, state.zIndex) = (content, zIndex)
      } else {
        state.identify(
          Identity(content, zIndex: zIndex, savedCount: count, links.map { SavedState($0) }), slots)
      }
      if let known { slots.settleAssets(known, shape, since: count, &replaced.forms) }
      if let counting = shape.counting, !slots.isChanged(counting, since: count) {
        slots.settle(.stored(.integer(zIndex)), counting, &replaced.forms)
      }
      if let settled {
        for (slot, form) in settled where !slots.isChanged(slot, since: count) {
          slots.settle(form, slot, &replaced.forms)
        }
      }
      guard let extras = state.extras else { return replaced }
      if unsafe extras.changeCount == count {
        unsafe swap(&extras.originals, &replaced.originals)
        return replaced
      }
      // A property that was set since was saved as it was in the snapshot.
      var originals: [CellValue.Form]? = slots.forms
      for slot in 0..<slots.count where slots.isChanged(slot, since: count) {
        originals?[slot] = values[first + slot]
      }
      unsafe swap(&extras.originals, &originals)
      replaced.originals = originals
      return replaced
    }
  }

  /// The values that a save replaces.
  private struct Replaced: Sendable {
    let content: StoreContent?
    let saved: SavedState?
    var otherIdentities: [Identity]?
    var originals: [CellValue.Form]?
    var forms: [CellValue.Form]?

    init(_ content: StoreContent?, _ saved: SavedState?) {
      self.content = content
      self.saved = saved
    }
  }

  /// Notes that the object was removed from a store, unless that knows it by another row meanwhile.
  func removed(from store: StoreIdentity, _ zIndex: Int64) {
    _ = withState { state, _ in
      guard state.zIndex(in: store) == zIndex else {
        return (nil, nil, nil) as (Identity?, [Identity]?, [CellValue.Form]?)
      }
      let before = (state.identity, state.otherIdentities, state.originals)
      state.removeIdentity(in: store)
      return before
    }
  }

  /// The identities of an object in all stores.
  struct Identities: Sendable {
    fileprivate let last: Identity?
    fileprivate let others: [Identity]?
  }

  /// The present identities in all stores.
  var identities: Identities {
    withState { state, _ in Identities(last: state.identity, others: state.otherIdentities) }
  }

  /// Gives the object its former identities.
  func restore(_ identities: Identities) {
    _ = withState { state, _ in
      let before = (state.identity, state.otherIdentities)
      state.setIdentity(identities.last)
      state.setOtherIdentities(identities.others)
      return before
    }
  }

  /// A function that restores the object's present values when a transaction is undone.
  ///
  /// A property that is set meanwhile stays set.
  var wayBack: @Sendable () -> Void {
    let before = withState { state, slots in
      (
        forms: slots.forms, changeCount: state.changeCount, originals: state.originals,
        identity: state.identity, otherIdentities: state.otherIdentities
      )
    }
    return { [self] in
      _ = withState { state, slots in
        let undone = (
          forms: slots.forms, originals: state.originals, identity: state.identity,
          otherIdentities: state.otherIdentities
        )
        var isSet = false
        for slot in 0..<slots.count {
          if slots.isChanged(slot, since: before.changeCount) {
            isSet = true
          } else {
            // The former value is released with `undone`.
            slots.fill(before.forms[slot], slot)
          }
        }
        // Values that were set in the undone transaction, or since, are changes.
        state.setOriginals(before.originals == nil && isSet ? before.forms : before.originals)
        state.setIdentity(before.identity)
        state.setOtherIdentities(before.otherIdentities)
        return undone
      }
    }
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

/// Copies of the properties of many objects, one behind the other.
///
/// In memory of its own, since an array copies and frees its elements by calls that ask each for its kind, several
/// times as long (benchmarks `insert` and `update`).
///
/// Proof: it is changed only by who has the only reference to it: while it is filled, or by a
/// graph of what is saved that has asked for that.
@safe final class SlotCopies: @unchecked Sendable {
  typealias Slot = ObjectStorage.Slot

  // The pointer leads to room for `capacity` slots, of which the first `filled` are initialized. The check for
  // exclusive access would cost as much as copying a slot.
  @exclusivity(unchecked) private var start: UnsafeMutablePointer<Slot>
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var filled = 0

  init(capacity: Int) {
    unsafe self.capacity = capacity
    unsafe start = .allocate(capacity: capacity)
  }

  /// The number of slots.
  var count: Int { unsafe filled }

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
        unsafe (end + slot).initialize(to: slots[slot])
      }
    }
    unsafe filled += more
  }

  /// A copy of all slots.
  var copy: SlotCopies {
    let copy = SlotCopies(capacity: count)
    unsafe copy.append(from: start, count: count)
    return copy
  }

  @inline(__always) private func checked(_ place: Int) -> Int {
    precondition(place >= 0 && place < count)
    return place
  }

  subscript(place: Int) -> CellValue.Form {
    @inline(__always) get { unsafe start[checked(place)].form }
    set { unsafe start[checked(place)].form = newValue }
  }

  /// The number of the last change of the property at a place.
  @inline(__always) func change(_ place: Int) -> Int { unsafe start[checked(place)].change }

  /// Whether the value at a place is more than SQLite stores.
  @inline(__always) func isLive(_ place: Int) -> Bool {
    if case .live = unsafe start[checked(place)].form { true } else { false }
  }
}

extension CellValue.Form {
  /// Whether the value holds no reference, so that its bits are all of it.
  @inline(__always) fileprivate var isBits: Bool {
    switch self {
    case .unset, .reference, .links, .lazy: true
    case .stored(.null), .stored(.integer), .stored(.real): true
    case .stored(.text), .stored(.blob), .data, .live, .targets: false
    }
  }
}
