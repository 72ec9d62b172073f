import SQLiteAssets
import SQLiteCore
import Synchronization

/// The values of one object, and its identity in each store.
package final class ObjectStorage: Sendable {
  /// The identity of an object in a store.
  struct Identity: Sendable {
    let token: any StoreToken
    let zIndex: Int64
    /// The number of changes of each property when the object was saved there; empty for none.
    var saved: [UInt32]
    /// The links that were saved there, unless they were none. Others are known to the fetch.
    var links: [KnownLinks]
    /// The values at the last save or fetch there, if another store got to know the object since.
    var originals: [CellValue.Form] = []
    /// The content of the store that the object is in.
    let generation: Int

    init(_ token: any StoreToken, zIndex: Int64, saved: [UInt32] = [], links: [KnownLinks] = []) {
      self.token = token
      self.zIndex = zIndex
      self.saved = saved
      self.links = links
      generation = token.generation
    }

    var store: StoreIdentity { token.identity }
    /// Whether the content of the store was not replaced since.
    var isCurrent: Bool { generation == token.generation }
  }

  /// The values as of one moment.
  struct Snapshot: Sendable {
    let forms: [CellValue.Form]
    /// The number of changes of each property; empty for none.
    let changes: [UInt32]
    /// The numbers at the last save in the store, or at the fetch from it.
    let saved: [UInt32]
    /// Whether the store knew the object before its content was replaced.
    let isOutdated: Bool

    func isChanged(_ slot: Int) -> Bool {
      !changes.isEmpty && changes[slot] != (saved.isEmpty ? 0 : saved[slot])
    }
  }

  private struct State {
    var forms: [CellValue.Form]
    var changes: [UInt32] = []
    /// The values at the last save or fetch, if a property was set since.
    var originals: [CellValue.Form] = []
    /// The identity in the store of the last save or fetch.
    var identity: Identity?
    /// The identities in other stores.
    var otherIdentities: [Identity] = []

    func isChanged(_ slot: Int, since changes: [UInt32]) -> Bool {
      !self.changes.isEmpty && self.changes[slot] != (changes.isEmpty ? 0 : changes[slot])
    }

    func identity(in store: StoreIdentity) -> Identity? {
      if let identity, identity.store == store, identity.isCurrent { return identity }
      return otherIdentities.first { $0.store == store && $0.isCurrent }
    }

    func isOutdated(in store: StoreIdentity) -> Bool {
      func isOutdated(_ identity: Identity) -> Bool {
        !identity.isCurrent && identity.store == store
      }
      return identity.map(isOutdated) ?? false || otherIdentities.contains(where: isOutdated)
    }

    /// Sets a property, and returns its former form.
    mutating func exchange(_ form: CellValue.Form, _ slot: Int) -> CellValue.Form {
      var other = form
      swap(&forms[slot], &other)
      return other
    }

    /// Sets a value that a store made, and adds the former one to `gone`.
    mutating func settle(
      _ form: CellValue.Form, _ slot: Int, _ gone: inout [CellValue.Form]
    ) {
      // An equal value is not written: the array that a snapshot shares would be copied.
      if case .stored(let value) = form, case .stored(value) = forms[slot] { return }
      let former = exchange(form, slot)
      if former.holdsOthers { gone.append(former) }
    }

    mutating func removeIdentity(in store: StoreIdentity) {
      if !otherIdentities.isEmpty { otherIdentities.removeAll { $0.store == store } }
      guard identity?.store == store else { return }
      identity = otherIdentities.popLast()
      guard let identity, !identity.originals.isEmpty else { return }
      // The store before that one is the last again.
      originals = identity.originals
      self.identity?.originals = []
    }

    /// Notes that a store knows the object, and was the last to learn of it.
    mutating func identify(_ new: Identity) {
      if identity?.store == new.store {
        identity = new
        return
      }
      if !otherIdentities.isEmpty { otherIdentities.removeAll { $0.store == new.store } }
      if var other = identity {
        other.originals = originals.isEmpty ? forms : originals
        otherIdentities.append(other)
      }
      identity = new
    }
  }

  let shape: ObjectShape
  /// The z_index that the object was fetched by, or nil if it was made.
  let fetchedZIndex: Int64?
  /// A value's `deinit` may read the object: so no value is released while this is locked. A function that
  /// replaces one returns it, and no code of the user's runs.
  private let state: Mutex<State>
  /// The contents of assets that somebody may hold, by their properties.
  private let assetCaches = Mutex<[Int: AssetCache]>([:])
  private let handedOut: Atomic<Bool>

  /// Takes over the values of an object.
  ///
  /// - Parameters:
  ///   - shape: The object's type.
  ///   - forms: One for each property.
  ///   - identity: The identity in the store that the object was fetched from.
  init(_ shape: ObjectShape, _ forms: consuming [CellValue.Form], identity: consuming Identity?) {
    self.shape = shape
    // First: after the state the compiler copies the identity once more (benchmark `fetch`).
    handedOut = Atomic(false)
    fetchedZIndex = identity?.zIndex
    state = Mutex(State(forms: consume forms, identity: consume identity))
  }

  deinit {
    guard shape.mayHoldOthers else { return }
    IterativeRelease.forms(
      state.withLock { state in
        guard !state.originals.isEmpty || state.forms.contains(where: \.holdsOthers) else {
          return []
        }
        let held = state.forms + state.originals
        (state.forms, state.originals) = ([], [])
        return held
      })
  }

  /// Makes the storage of an object that is saved for the first time.
  convenience init(_ shape: ObjectShape) {
    self.init(shape, [], identity: nil)
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
    state.withLock { state in
      let count = shape.properties.count
      state.forms.reserveCapacity(count)
      for slot in 0..<count {
        guard case .box(let box) = cells[slot].owner, let form = box.adopt(by: self, slot) else {
          state.forms.append(contentsOf: repeatElement(.unset, count: count - slot))
          return slot == 0 ? .none : .some
        }
        state.forms.append(form)
      }
      return .all
    }
  }

  subscript(slot: Int) -> CellValue.Form { state.withLock { $0.forms[slot] } }

  /// Lends what a property holds.
  @inline(__always)
  func read<Result>(_ slot: Int, _ body: (CellValue.Form) -> Result) -> Result {
    state.withLock { body($0.forms[slot]) }
  }

  /// Returns whether an object was ever made of a fetched storage: others cannot have changed.
  var isHandedOut: Bool { handedOut.load(ordering: .relaxed) }

  /// Notes that an object is made of the storage.
  func handOut() {
    if !isHandedOut { handedOut.store(true, ordering: .relaxed) }
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
    _ = state.withLock { state in
      if state.changes.isEmpty {
        state.changes = Array(repeating: 0, count: state.forms.count)
      }
      if state.identity != nil, state.originals.isEmpty { state.originals = state.forms }
      state.changes[slot] &+= 1
      return state.exchange(form, slot)
    }
  }

  /// Keeps a value that was made of the stored one, unless another task was first.
  ///
  /// - Returns: The value that is kept.
  func cache(_ live: LiveValue, at slot: Int) -> LiveValue {
    let (held, _) = state.withLock { state -> (LiveValue, CellValue.Form) in
      if case .live(let other) = state.forms[slot] { return (other, .unset) }
      return (live, state.exchange(.live(live), slot))
    }
    return held
  }

  /// All values as of one moment, and which were set since the object was saved in a store.
  func snapshot(for store: StoreIdentity) -> Snapshot {
    state.withLock { state in
      Snapshot(
        forms: state.forms, changes: state.changes,
        saved: state.identity(in: store)?.saved ?? [], isOutdated: state.isOutdated(in: store))
    }
  }

  /// The values at the last save in a store, or at the fetch from it; nil if the store does not know the
  /// object.
  func originals(in store: StoreIdentity) -> [CellValue.Form]? {
    state.withLock { state in
      guard let identity = state.identity(in: store) else { return nil }
      if !identity.originals.isEmpty { return identity.originals }
      return state.originals.isEmpty ? state.forms : state.originals
    }
  }

  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    state.withLock { $0.identity(in: store)?.zIndex }
  }

  /// Whether a store knew the object before its content was replaced.
  func isOutdated(in store: StoreIdentity) -> Bool { state.withLock { $0.isOutdated(in: store) } }

  /// The links of a property at the last save in a store, or at the fetch from it.
  ///
  /// - Parameters:
  ///   - slot: The property.
  ///   - store: The store.
  ///   - context: The fetch of the object.
  /// - Returns: The links, and the number of the property's changes then; nil if the object is not in the
  ///   store.
  func knownLinks(
    _ slot: Int, in store: StoreIdentity, _ context: FetchContext?
  ) -> (links: LinkTargets, changes: UInt32)? {
    let identity = state.withLock { $0.identity(in: store) }
    guard let identity else { return nil }
    let changes = identity.saved.isEmpty ? 0 : identity.saved[slot]
    if let known = identity.links.first(where: { $0.slot == slot }) {
      return (known.links, changes)
    }
    guard let context, context.token.identity == store, identity.zIndex == fetchedZIndex else {
      return (.none, changes)
    }
    return (context.links(of: self, slot: slot), changes)
  }

  /// The identity in the store of the last save or fetch.
  var lastIdentity: Identity? { state.withLock { $0.identity } }

  /// Notes that the object is in a store, with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: The object's key there.
  ///   - token: The store.
  ///   - snapshot: The values that were saved; later ones remain changes.
  ///   - settled: The values that the store made: a number that it counted up, an asset's id.
  ///   - links: The links that were written.
  func saved(
    as zIndex: Int64, in token: any StoreToken, _ snapshot: Snapshot,
    settled: [(slot: Int, form: CellValue.Form)], links: [KnownLinks] = []
  ) {
    let changes = snapshot.changes
    _ = state.withLock { state -> ([CellValue.Form], Identity?, [Identity]) in
      var gone: [CellValue.Form] = []
      let former = (state.identity, state.otherIdentities)
      let known = former.1.first { $0.store == token.identity }?.originals ?? []
      var identity = Identity(token, zIndex: zIndex, saved: changes, links: links)
      if let before = state.identity(in: token.identity), before.zIndex == zIndex {
        for known in before.links where !links.contains(where: { $0.slot == known.slot }) {
          identity.links.append(known)
        }
      }
      state.identify(identity)
      // The ids of assets are others in each store.
      for slot in known.indices where shape.properties[slot].role.isAsset {
        guard case .stored = known[slot], case .stored = state.forms[slot],
          !state.isChanged(slot, since: changes)
        else { continue }
        state.settle(known[slot], slot, &gone)
      }
      if let counting = shape.counting, !state.isChanged(counting, since: changes) {
        state.settle(.stored(.integer(zIndex)), counting, &gone)
      }
      for (slot, form) in settled where !state.isChanged(slot, since: changes) {
        state.settle(form, slot, &gone)
      }
      if state.originals.isEmpty, state.changes == changes { return (gone, former.0, former.1) }
      gone += state.originals
      state.originals = []
      if state.changes == changes { return (gone, former.0, former.1) }
      // A property that was set since was saved as it was in the snapshot.
      state.originals = state.forms
      for slot in state.forms.indices where state.isChanged(slot, since: changes) {
        state.originals[slot] = snapshot.forms[slot]
      }
      return (gone, former.0, former.1)
    }
  }

  /// Notes that the object was removed from a store, unless that knows it by another row meanwhile.
  func removed(from store: StoreIdentity, _ zIndex: Int64) {
    _ = state.withLock { state in
      guard state.identity(in: store)?.zIndex == zIndex else {
        return (nil, [], []) as (Identity?, [Identity], [CellValue.Form])
      }
      let before = (state.identity, state.otherIdentities, state.originals)
      state.removeIdentity(in: store)
      return before
    }
  }

  /// The identities of an object in all stores.
  struct Identities: Sendable {
    fileprivate let last: Identity?
    fileprivate let others: [Identity]
  }

  /// The present identities in all stores.
  var identities: Identities {
    state.withLock { Identities(last: $0.identity, others: $0.otherIdentities) }
  }

  /// Gives the object its former identities.
  func restore(_ identities: Identities) {
    _ = state.withLock { state in
      let before = (state.identity, state.otherIdentities, state.originals)
      (state.identity, state.otherIdentities) = (identities.last, identities.others)
      return before
    }
  }

  /// A function that restores the object's present values when a transaction is undone.
  ///
  /// A property that is set meanwhile stays set.
  var wayBack: @Sendable () -> Void {
    let before = state.withLock { $0 }
    return { [self] in
      _ = state.withLock { state in
        let undone = state
        for slot in state.forms.indices where !state.isChanged(slot, since: before.changes) {
          state.forms[slot] = before.forms[slot]
        }
        // Values that were set in the undone transaction, or since, are no originals.
        let isSet = state.forms.indices.contains { state.isChanged($0, since: before.changes) }
        state.originals =
          before.originals.isEmpty && isSet ? before.forms : before.originals
        state.identity = before.identity
        state.otherIdentities = before.otherIdentities
        return undone
      }
    }
  }
}

extension ObjectStorage {
  /// Returns whether a property was set since the object was saved or fetched.
  func isSet(_ slot: Int) -> Bool {
    state.withLock { $0.isChanged(slot, since: $0.identity?.saved ?? []) }
  }

  /// The asset of a property, if a store has the object: it may have got content there since. Nil for a
  /// property that was set to nil and not saved yet.
  func assetHandle(at slot: Int) -> AssetHandle? {
    let found = state.withLock { state -> (identity: Identity, value: Value)? in
      guard let identity = state.identity, case .stored(let value) = state.forms[slot],
        !value.isNull || !state.isChanged(slot, since: identity.saved)
      else { return nil }
      return (identity, value)
    }
    guard let (identity, value) = found else { return nil }
    let cache = assetCaches.withLock { caches in
      if let cache = caches[slot] { return cache }
      let cache = AssetCache()
      caches[slot] = cache
      return cache
    }
    return AssetHandle(
      store: identity.token, shape: shape, slot: slot, zIndex: identity.zIndex,
      generation: identity.generation, lastID: try? AssetID(databaseValue: value), cache: cache)
  }
}
