import SQLiteAssets
import SQLiteCore
import Synchronization

/// The values of one object, and what the stores know it by.
package final class ObjectStorage: Sendable {
  /// What a store knows an object by.
  struct Identity: Sendable {
    let magic: MagicData
    let zIndex: Int64
    /// How often each property had been set when the object was saved there; empty for never.
    var saved: [UInt32] = []
    /// The links that were saved there, unless they were none. Others are known to the fetch.
    var links: [KnownLinks] = []

    var store: StoreIdentity { magic.identity }
  }

  /// The values as of one moment.
  struct Snapshot: Sendable {
    let forms: [CellContent.Form]
    /// How often each property was set; empty for never.
    let changes: [UInt32]
    /// The same when the object was saved in the store, or fetched from it.
    let saved: [UInt32]

    func isChanged(_ slot: Int) -> Bool {
      !changes.isEmpty && changes[slot] != (saved.isEmpty ? 0 : saved[slot])
    }
  }

  private struct State {
    var forms: [CellContent.Form]
    var changes: [UInt32] = []
    /// What the properties held when the object was saved or fetched, if one was set since.
    var originals: [CellContent.Form] = []
    /// What the store knows it by that it was last saved in or fetched from.
    var identity: Identity?
    /// What other stores know it by.
    var otherIdentities: [Identity] = []

    func isChanged(_ slot: Int, since changes: [UInt32]) -> Bool {
      !self.changes.isEmpty && self.changes[slot] != (changes.isEmpty ? 0 : changes[slot])
    }

    func identity(in store: StoreIdentity) -> Identity? {
      if let identity, identity.store == store { return identity }
      return otherIdentities.first { $0.store == store }
    }

    mutating func settle(_ value: Value, _ slot: Int) {
      // What is there already is not written, lest a snapshot's values be copied.
      if case .stored(value) = forms[slot] { return }
      forms[slot] = .stored(value)
    }

    mutating func removeIdentity(in store: StoreIdentity) {
      if !otherIdentities.isEmpty { otherIdentities.removeAll { $0.store == store } }
      if identity?.store == store { identity = otherIdentities.popLast() }
    }
  }

  let plan: ObjectPlan
  /// The z_index that the object was fetched by, or nil if it was made.
  let fetchedZIndex: Int64?
  private let state: Mutex<State>
  /// What somebody may have read of assets, by their properties.
  private let assetCaches = Mutex<[Int: AssetCache]>([:])

  /// Takes over the values of an object.
  ///
  /// - Parameters:
  ///   - plan: The object's type.
  ///   - forms: One for each property.
  ///   - identity: What a store knows it by, if it was fetched.
  init(_ plan: ObjectPlan, _ forms: [CellContent.Form], identity: Identity?) {
    self.plan = plan
    fetchedZIndex = identity?.zIndex
    state = Mutex(State(forms: forms, identity: identity))
  }

  deinit {
    guard plan.mayHoldOthers else { return }
    Release.forms(
      state.withLock { state in
        guard !state.originals.isEmpty || state.forms.contains(where: \.holdsOthers) else {
          return []
        }
        let held = state.forms + state.originals
        (state.forms, state.originals) = ([], [])
        return held
      })
  }

  /// Makes room for the values of an object that is to be saved.
  convenience init(_ plan: ObjectPlan) {
    self.init(plan, [], identity: nil)
  }

  /// How many of an object's cells lead to a storage from now on.
  enum Adoption {
    case all
    /// None, since the first one leads to another storage already.
    case none
    case some
  }

  /// Lets the cells of an object lead here from now on, and takes over what they hold.
  func adopt(_ cells: FoundCells) -> Adoption {
    // Whoever follows a cell that leads here already waits for the others.
    state.withLock { state in
      let count = plan.readers.count
      state.forms.reserveCapacity(count)
      for slot in 0..<count {
        guard case .own(let own) = cells[slot].owner, let form = own.adopt(by: self, slot) else {
          state.forms.append(contentsOf: repeatElement(.unset, count: count - slot))
          return slot == 0 ? .none : .some
        }
        state.forms.append(form)
      }
      return .all
    }
  }

  subscript(slot: Int) -> CellContent.Form { state.withLock { $0.forms[slot] } }

  /// Lends what a property holds, to an `init()` that runs what it has set.
  @inline(__always)
  func read<Result>(_ slot: Int, _ body: (CellContent.Form) -> Result) -> Result {
    if Construction.isAnyRunning, let form = Construction.form(of: self, slot) {
      return body(form)
    }
    return state.withLock { body($0.forms[slot]) }
  }

  func set(_ form: CellContent.Form, at slot: Int) {
    state.withLock { state in
      if state.changes.isEmpty {
        state.changes = Array(repeating: 0, count: state.forms.count)
      }
      if state.identity != nil, state.originals.isEmpty { state.originals = state.forms }
      state.forms[slot] = form
      state.changes[slot] &+= 1
    }
  }

  func cache(_ form: CellContent.Form, at slot: Int) {
    state.withLock { $0.forms[slot] = form }
  }

  /// All values as of one moment, and which were set since the object was saved in a store.
  func snapshot(for store: StoreIdentity) -> Snapshot {
    state.withLock { state in
      Snapshot(
        forms: state.forms, changes: state.changes,
        saved: state.identity(in: store)?.saved ?? [])
    }
  }

  /// What the properties held when the object was saved or fetched, as of one moment.
  var originals: [CellContent.Form] {
    state.withLock { $0.originals.isEmpty ? $0.forms : $0.originals }
  }

  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    state.withLock { $0.identity(in: store)?.zIndex }
  }

  /// What the object knows of the links of a property in a store: as they were when it was last saved
  /// there, or fetched.
  ///
  /// - Parameters:
  ///   - slot: The property.
  ///   - store: The store.
  ///   - context: What the object was fetched with.
  /// - Returns: The links, and how often the property had been set then; nil if the object is not in the
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
    guard let context, context.store.identity == store, identity.zIndex == fetchedZIndex else {
      return (.none, changes)
    }
    return (context.links(of: self, slot: slot) ?? .none, changes)
  }

  /// What the store knows it by that it was last saved in or fetched from.
  var lastIdentity: Identity? { state.withLock { $0.identity } }

  /// Notes that the object is in a store, with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: What the store knows it by.
  ///   - magic: The store.
  ///   - changes: The counts of the snapshot; what was set since remains a change.
  ///   - settled: Values that the store made: a number that it counted up, an asset's id.
  ///   - links: The links that were written.
  func saved(
    as zIndex: Int64, in magic: MagicData, changes: [UInt32], settled: [(slot: Int, value: Value)],
    links: [KnownLinks] = []
  ) {
    state.withLock { state in
      var identity = Identity(magic: magic, zIndex: zIndex, saved: changes, links: links)
      if let before = state.identity(in: magic.identity), before.zIndex == zIndex {
        for known in before.links where !links.contains(where: { $0.slot == known.slot }) {
          identity.links.append(known)
        }
      }
      state.removeIdentity(in: magic.identity)
      if let other = state.identity { state.otherIdentities.append(other) }
      state.identity = identity
      if let counting = plan.counting, !state.isChanged(counting, since: changes) {
        state.settle(.integer(zIndex), counting)
      }
      for (slot, value) in settled where !state.isChanged(slot, since: changes) {
        state.settle(value, slot)
      }
      if state.originals.isEmpty { return }
      if state.changes == changes {
        state.originals = []
      } else {
        for slot in state.forms.indices where !state.isChanged(slot, since: changes) {
          state.originals[slot] = state.forms[slot]
        }
      }
    }
  }

  /// Notes that the object was removed from a store.
  func removed(from store: StoreIdentity) {
    state.withLock { $0.removeIdentity(in: store) }
  }

  /// What stores know an object by.
  struct Identities: Sendable {
    fileprivate let last: Identity?
    fileprivate let others: [Identity]
  }

  /// What stores know the object by now.
  var identities: Identities {
    state.withLock { Identities(last: $0.identity, others: $0.otherIdentities) }
  }

  /// Lets stores know the object by what they knew it by.
  func restore(_ identities: Identities) {
    state.withLock { ($0.identity, $0.otherIdentities) = (identities.last, identities.others) }
  }

  /// A way back to what the object holds now, for when a transaction is undone.
  ///
  /// What is set meanwhile stays set.
  var wayBack: @Sendable () -> Void {
    let before = state.withLock { $0 }
    return { [self] in
      state.withLock { state in
        for slot in state.forms.indices where !state.isChanged(slot, since: before.changes) {
          state.forms[slot] = before.forms[slot]
        }
        state.originals = before.originals
        state.identity = before.identity
        state.otherIdentities = before.otherIdentities
      }
    }
  }
}

extension ObjectStorage {
  /// The asset that a column names, or nil.
  func assetHandle(of stored: Value, at slot: Int) -> AssetHandle? {
    guard let id = try? AssetID(databaseValue: stored), let identity = lastIdentity else {
      return nil
    }
    let cache = assetCaches.withLock { caches in
      if let cache = caches[slot] { return cache }
      let cache = AssetCache()
      caches[slot] = cache
      return cache
    }
    return AssetHandle(store: identity.magic, id: id, cache: cache)
  }
}
