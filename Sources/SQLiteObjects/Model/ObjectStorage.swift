import SQLiteAssets
import SQLiteCore
import Synchronization

/// The values of one object, and its identity in each store.
package final class ObjectStorage: Sendable {
  /// The identity of an object in a store.
  struct Identity: Sendable {
    /// The store, with the content that the object is in.
    let content: StoreContent
    let zIndex: Int64
    /// The number of the object's changes when it was saved there, or 0 for a fetch.
    fileprivate var savedCount = 0
    /// What else is known of the object there; nil for nothing.
    fileprivate var state: SavedState?

    init(_ content: StoreContent, zIndex: Int64) {
      self.content = content
      self.zIndex = zIndex
    }

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

  /// The values as of one moment.
  struct Snapshot: Sendable {
    let forms: [CellValue.Form]
    /// For each property the number of its last change; nil if none was ever changed.
    fileprivate let changes: [Int]?
    /// The number of the object's changes.
    fileprivate let changeCount: Int
    /// Their number at the last save in the store, or at the fetch from it.
    fileprivate let savedCount: Int
    /// Whether the store knew the object.
    let isKnown: Bool
    /// Whether the store knew the object before its content was replaced.
    let isOutdated: Bool

    /// Returns whether the properties that were changed are these, of those that have columns.
    func isChange(of slots: [Int], among columns: [Int]) -> Bool {
      guard let changes else { return slots.isEmpty }
      var index = 0
      for slot in columns where changes[slot] > savedCount {
        guard index < slots.count, slots[index] == slot else { return false }
        index += 1
      }
      return index == slots.count
    }

    func isChanged(_ slot: Int) -> Bool { lastChange(of: slot) > savedCount }

    /// The number of the last change of a property, 0 for none.
    func lastChange(of slot: Int) -> Int { changes?[slot] ?? 0 }
  }

  // Nil stands for arrays that most objects never need: an empty one would cost a call at each copy.
  private struct State {
    var forms: [CellValue.Form]
    /// For each property the number of its last change; nil if none was ever changed.
    var changes: [Int]?
    /// The number of the object's changes.
    var changeCount = 0
    /// The values at the last save or fetch, if a property was set since.
    var originals: [CellValue.Form]?
    /// The identity in the store of the last save or fetch.
    var identity: Identity?
    /// The identities in other stores.
    var otherIdentities: [Identity]?
    /// The contents of assets that somebody may hold, by their properties.
    var assetCaches: [Int: AssetCache]?

    /// Returns whether a property was changed since the object had a number of changes.
    func isChanged(_ slot: Int, since count: Int) -> Bool {
      guard let changes else { return false }
      return changes[slot] > count
    }

    func identity(in store: StoreIdentity) -> Identity? {
      if let identity, identity.isPresent(in: store) { return identity }
      return otherIdentities?.first { $0.isPresent(in: store) }
    }

    func zIndex(in store: StoreIdentity) -> Int64? {
      if isLast(in: store) { return identity?.zIndex }
      return otherIdentities?.first { $0.isPresent(in: store) }?.zIndex
    }

    /// The number of changes at the last save in a store, or at the fetch from it; 0 if it does not know the
    /// object.
    func savedCount(in store: StoreIdentity) -> Int {
      if isLast(in: store) { return identity?.savedCount ?? 0 }
      return otherIdentities?.first { $0.isPresent(in: store) }?.savedCount ?? 0
    }

    /// Whether the last save or fetch was of the present content of a store. The identity is not copied.
    @inline(__always) private func isLast(in store: StoreIdentity) -> Bool {
      guard let content = identity?.content else { return false }
      return content.identity == store && content.isCurrent
    }

    /// Whether a store may know more of the object than its row.
    var hasState: Bool { identity?.state != nil || otherIdentities != nil }

    func isOutdated(in store: StoreIdentity) -> Bool {
      if let content = identity?.content, !content.isCurrent, content.identity == store {
        return true
      }
      return otherIdentities?.contains { !$0.isCurrent && $0.store == store } ?? false
    }

    /// Sets a property, and returns its former form.
    mutating func exchange(_ form: CellValue.Form, _ slot: Int) -> CellValue.Form {
      var other = form
      swap(&forms[slot], &other)
      return other
    }

    /// Sets a value that a store made, and adds the former one to `gone`.
    mutating func settle(
      _ form: CellValue.Form, _ slot: Int, _ gone: inout [CellValue.Form]?
    ) {
      // An equal value is not written: the array that a snapshot shares would be copied.
      if case .stored(let value) = form, case .stored(value) = forms[slot] { return }
      let former = exchange(form, slot)
      if former.holdsOthers { gone = (gone ?? []) + [former] }
    }

    /// Sets the ids of assets, which are others in each store, unless the assets were set since.
    mutating func settleAssets(
      _ known: [CellValue.Form], _ shape: ObjectShape, since count: Int,
      _ gone: inout [CellValue.Form]?
    ) {
      for slot in known.indices where shape.properties[slot].role.isAsset {
        guard case .stored = known[slot], case .stored = forms[slot],
          !isChanged(slot, since: count)
        else { continue }
        settle(known[slot], slot, &gone)
      }
    }

    mutating func removeIdentity(in store: StoreIdentity) {
      otherIdentities?.removeAll { $0.store == store }
      guard identity?.store == store else { return }
      identity = otherIdentities?.popLast()
      guard let state = identity?.state, let before = state.originals else { return }
      // The store that was last before that one is the last one again.
      originals = before
      identity?.state = state.links.map { SavedState($0) }
    }

    /// Notes that a store knows the object, and was the last to learn of it.
    mutating func identify(_ new: Identity) {
      if let other = identity, other.store != new.store {
        otherIdentities?.removeAll { $0.store == new.store }
        let state = SavedState(other.state?.links, originals: originals ?? forms)
        let former = Identity(
          other.content, zIndex: other.zIndex, savedCount: other.savedCount, state)
        otherIdentities = (otherIdentities ?? []) + [former]
      }
      identity = new
    }
  }

  let shape: ObjectShape
  /// The z_index that the object was fetched by, or nil if it was made.
  let fetchedZIndex: Int64?
  private let handedOut: Atomic<Bool>
  /// A value's `deinit` may read the object: so no value is released while this is locked. A function that
  /// replaces one returns it, and no code of the user's runs.
  private let state: Mutex<State>

  /// Takes over the values of an object.
  ///
  /// - Parameters:
  ///   - shape: The object's type.
  ///   - forms: One for each property.
  ///   - identity: The identity in the store that the object was fetched from.
  init(_ shape: ObjectShape, _ forms: consuming [CellValue.Form], identity: consuming Identity?) {
    self.shape = shape
    // Set before the state: after it the compiler would copy the identity once more (benchmark `fetch`).
    handedOut = Atomic(false)
    fetchedZIndex = identity?.zIndex
    state = Mutex(State(forms: consume forms, identity: consume identity))
  }

  deinit {
    guard shape.mayHoldOthers else { return }
    IterativeRelease.forms(
      state.withLock { state in
        guard state.originals != nil || state.forms.contains(where: \.holdsOthers) else {
          return []
        }
        let held = state.forms + (state.originals ?? [])
        (state.forms, state.originals) = ([], nil)
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

  /// All values.
  var forms: [CellValue.Form] { state.withLock { $0.forms } }

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
    let known = shape.mayHoldOthers ? originalsWithoutObjects : nil
    _ = state.withLock { state in
      if state.changes == nil { state.changes = Array(repeating: 0, count: state.forms.count) }
      if let identity = state.identity, state.originals == nil {
        let isKnown = known?.isOf(identity, state.changeCount) ?? false
        state.originals = isKnown ? known?.forms : state.forms
      }
      state.changeCount += 1
      state.changes?[slot] = state.changeCount
      return state.exchange(form, slot)
    }
  }

  /// The values that a store knows, without the objects that they lead to.
  private struct Originals {
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
    let found = state.withLock { state -> Originals? in
      guard let identity = state.identity, state.originals == nil else { return nil }
      return Originals(identity: identity, changeCount: state.changeCount, forms: state.forms)
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
        forms: state.forms, changes: state.changes, changeCount: state.changeCount,
        savedCount: state.savedCount(in: store), isKnown: state.zIndex(in: store) != nil,
        isOutdated: state.isOutdated(in: store))
    }
  }

  /// The values at the last save in a store, or at the fetch from it; nil if the store does not know the
  /// object.
  func originals(in store: StoreIdentity) -> [CellValue.Form]? {
    state.withLock { state in
      guard let identity = state.identity(in: store) else { return nil }
      return identity.state?.originals ?? state.originals ?? state.forms
    }
  }

  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    state.withLock { $0.zIndex(in: store) }
  }

  /// Whether a store knew the object before its content was replaced.
  func isOutdated(in store: StoreIdentity) -> Bool { state.withLock { $0.isOutdated(in: store) } }

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
    let identity = state.withLock { $0.identity(in: store) }
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
  var lastIdentity: Identity? { state.withLock { $0.identity } }

  /// Notes that the object is in a store, with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: The object's key there.
  ///   - content: The store.
  ///   - snapshot: The values that were saved; later ones remain changes.
  ///   - settled: The values that the store made: a number that it counted up, an asset's id.
  ///   - links: The links that were written.
  func saved(
    as zIndex: Int64, in content: StoreContent, _ snapshot: Snapshot,
    settled: [(slot: Int, form: CellValue.Form)]?, links: [KnownLinks]?
  ) {
    let (store, count) = (content.identity, snapshot.changeCount)
    // The replaced values are released when the lock is free again.
    _ = state.withLock { state -> Replaced in
      var replaced = Replaced(state.identity, state.otherIdentities)
      let known = state.otherIdentities?.first { $0.store == store }?.state?.originals
      var links = links
      if state.hasState, let before = state.identity(in: store), before.zIndex == zIndex,
        let former = before.state?.links, !former.isEmpty
      {
        let written = links ?? []
        links = written + former.filter { known in !written.contains { $0.slot == known.slot } }
      }
      state.identify(
        Identity(
          content, zIndex: zIndex, savedCount: count, links.map { SavedState($0) }))
      if let known { state.settleAssets(known, shape, since: count, &replaced.forms) }
      if let counting = shape.counting, !state.isChanged(counting, since: count) {
        state.settle(.stored(.integer(zIndex)), counting, &replaced.forms)
      }
      if let settled {
        for (slot, form) in settled where !state.isChanged(slot, since: count) {
          state.settle(form, slot, &replaced.forms)
        }
      }
      if state.changeCount == count {
        swap(&state.originals, &replaced.originals)
        return replaced
      }
      // A property that was set since was saved as it was in the snapshot.
      var originals: [CellValue.Form]? = state.forms
      for slot in state.forms.indices where state.isChanged(slot, since: count) {
        originals?[slot] = snapshot.forms[slot]
      }
      swap(&state.originals, &originals)
      replaced.originals = originals
      return replaced
    }
  }

  /// The values that a save replaces.
  private struct Replaced: Sendable {
    let identity: Identity?
    let otherIdentities: [Identity]?
    var originals: [CellValue.Form]?
    var forms: [CellValue.Form]?

    init(_ identity: Identity?, _ otherIdentities: [Identity]?) {
      self.identity = identity
      self.otherIdentities = otherIdentities
    }
  }

  /// Notes that the object was removed from a store, unless that knows it by another row meanwhile.
  func removed(from store: StoreIdentity, _ zIndex: Int64) {
    _ = state.withLock { state in
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
        for slot in state.forms.indices where !state.isChanged(slot, since: before.changeCount) {
          state.forms[slot] = before.forms[slot]
        }
        // Values that were set in the undone transaction, or since, are changes.
        let isSet = state.forms.indices.contains { state.isChanged($0, since: before.changeCount) }
        state.originals =
          before.originals == nil && isSet ? before.forms : before.originals
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
    state.withLock { $0.isChanged(slot, since: $0.identity?.savedCount ?? 0) }
  }

  /// The asset of a property, if a store has the object: it may have got content there since. Nil for a
  /// property that was set to nil and not saved yet.
  func assetHandle(at slot: Int) -> AssetHandle? {
    let found = state.withLock { state -> (identity: Identity, value: Value, cache: AssetCache)? in
      guard let identity = state.identity, case .stored(let value) = state.forms[slot],
        !value.isNull || !state.isChanged(slot, since: identity.savedCount)
      else { return nil }
      let cache = state.assetCaches?[slot] ?? AssetCache()
      state.assetCaches = state.assetCaches ?? [:]
      state.assetCaches?[slot] = cache
      return (identity, value, cache)
    }
    guard let (identity, value, cache) = found else { return nil }
    return AssetHandle(
      content: identity.content, shape: shape, slot: slot, zIndex: identity.zIndex,
      lastID: try? AssetID(databaseValue: value), cache: cache)
  }
}
