import SQLiteCore

// The identity of the object in a store, and how saves, removals and rollbacks change it.
extension ObjectStorage {
  /// Atomically copies all values and their change numbers.
  ///
  /// - Parameters:
  ///   - store: A store.
  ///   - copies: Receives a slot for each property.
  /// - Returns: The state of the object in the store at the same moment.
  func snapshot(for store: StoreIdentity, to copies: SlotCopies) -> Snapshot {
    withState { state, slots in
      slots.copy(to: copies)
      return state.snapshot(for: store)
    }
  }

  /// Returns the values at the last save in a store or at the fetch from it, or nil if the object
  /// isn't in the store.
  func originals(in store: StoreIdentity) -> SlotCopies? {
    withState { state, slots in
      guard let identity = state.identity(in: store) else { return nil }
      return identity.state?.originals ?? state.originals ?? slots.copies
    }
  }

  /// Returns the object's z_index in a store, or nil if the object isn't in the store.
  func zIndex(in store: StoreIdentity) -> Int64? {
    withState { state, _ in state.zIndex(in: store) }
  }

  /// Returns the object's key in a store and its change count at the last save there, or nil if the
  /// object isn't in the store.
  func position(in store: StoreIdentity) -> (zIndex: Int64, savedCount: Int)? {
    withState { state, _ in state.position(in: store) }
  }

  /// Returns whether the object was saved in or fetched from contents of a store that have been
  /// replaced since.
  func isOutdated(in store: StoreIdentity) -> Bool {
    withState { state, _ in state.isOutdated(in: store) }
  }

  /// The object's identity in the store of the last save or fetch, or nil if there is no such
  /// store.
  var lastIdentity: Identity? { withState { state, _ in state.identity } }

  /// Records that the object was saved in a store with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: The object's key in the store.
  ///   - content: The store.
  ///   - snapshot: The object's state when its values were copied. Later changes remain pending.
  ///   - values: The values that were saved.
  ///   - first: The position of the object's first property in `values`.
  ///   - assigned: The values that the store assigned: an auto-incremented number, the id of an
  ///     asset.
  ///   - links: The links that were written.
  ///   - isUpdate: Whether only changes were written. The row may then contain newer values, which
  ///     another task has saved since the snapshot.
  /// - Returns: The state that was replaced, for ``restore(_:)``. It must not be released while the
  ///   state is locked.
  func saved(
    as zIndex: Int64, in content: StoreContent, _ snapshot: Snapshot, _ values: SlotCopies,
    first: Int, assigned: [(slot: Int, form: _CellValue.Form)], links: [KnownLinks]?,
    isUpdate: Bool
  ) -> PreviousState {
    let (store, count) = (content.identity, snapshot.changeCount)
    return withState { state, slots -> PreviousState in
      if state.content == nil, state.extras == nil, links == nil, assigned.isEmpty {
        (state.content, state.zIndex) = (content, zIndex)
        guard let autoIncrementSlot = shape.autoIncrementSlot,
          case .unset = slots[autoIncrementSlot]
        else {
          return .new(isKeyNew: false)
        }
        slots.fill(.stored(.integer(zIndex)), autoIncrementSlot)
        return .new(isKeyNew: true)
      }
      var former = Known(state, changeCount: count)
      let known = state.otherIdentities?.first { $0.store == store }?.state?.originals
      var (links, savedCount) = (links, count)
      if isUpdate, let before = state.position(in: store), before.zIndex == zIndex {
        savedCount = max(count, before.savedCount)
      }
      if let extras = state.extras, unsafe extras.saved != nil || extras.otherIdentities != nil,
        let before = state.identity(in: store), before.zIndex == zIndex,
        let former = before.state?.links, !former.isEmpty
      {
        let written = links ?? []
        links = written + former.filter { known in !written.contains { $0.slot == known.slot } }
      }
      if let last = state.identity, last.store != store, last.isCurrent, last.savedCount > count {
        // Another store has saved newer values in the meantime, and has assigned the ids of their
        // assets. It remains the store of the last save.
        let originals = slots.copies
        for slot in 0..<slots.count {
          if slots.isChanged(slot, since: count) {
            originals[slot] = values[first + slot]
          } else if let known, shape.properties[slot].role.isAsset {
            originals[slot] = known[slot]
          }
        }
        for (slot, form) in assigned { originals[slot] = form }
        state.addOtherIdentity(
          Identity(
            content, zIndex: zIndex, savedCount: savedCount,
            SavedState(links, originals: originals)))
        return .known(former)
      }
      if state.extras == nil, links == nil, state.content.map({ $0.identity == store }) ?? true {
        (state.content, state.zIndex) = (content, zIndex)
      } else {
        state.identify(
          Identity(content, zIndex: zIndex, savedCount: savedCount, links.map { SavedState($0) }),
          slots)
      }
      if let known { slots.assignAssetIDs(known, shape, since: count, &former.forms) }
      if let autoIncrementSlot = shape.autoIncrementSlot,
        !slots.isChanged(autoIncrementSlot, since: count)
      {
        if case .unset = slots[autoIncrementSlot] {
          former.isKeyNew = true
          slots.fill(.stored(.integer(zIndex)), autoIncrementSlot)
        } else {
          slots.assign(.stored(.integer(zIndex)), autoIncrementSlot, &former.forms)
        }
      }
      for (slot, form) in assigned where !slots.isChanged(slot, since: count) {
        slots.assign(form, slot, &former.forms)
        guard values.isChangedInside(first + slot), let extras = state.extras,
          !(state.otherIdentities?.isEmpty ?? true)
        else { continue }
        // For the other stores, the change inside a lazy asset is a change of the property.
        unsafe extras.changeCount += 1
        slots.register(unsafe extras.changeCount, of: slot)
      }
      guard let extras = state.extras, savedCount == count else { return .known(former) }
      guard unsafe extras.changeCount != count else {
        unsafe extras.originals = nil
        return .known(former)
      }
      // The save wrote the value in the snapshot for a property that was set later.
      let originals = slots.copies
      for slot in 0..<slots.count where slots.isChanged(slot, since: count) {
        originals[slot] = values[first + slot]
      }
      unsafe extras.originals = originals
      return .known(former)
    }
  }

  /// The state of an object before a save, from which ``ObjectStorage/restore(_:)`` restores the
  /// object after a rollback.
  enum PreviousState: Sendable {
    /// The object was in no store, and no property had been set since its storage was created.
    ///
    /// - Parameter isKeyNew: Whether the save assigned a key to an object that had none.
    case new(isKeyNew: Bool)
    case known(Known)
  }

  /// The identities of an object before a save, and the values that the save has replaced.
  struct Known: Sendable {
    fileprivate let content: StoreContent?
    fileprivate let zIndex: Int64
    fileprivate let savedCount: Int
    fileprivate let saved: SavedState?
    fileprivate let otherIdentities: [Identity]?
    fileprivate let originals: SlotCopies?
    fileprivate let changeCount: Int
    fileprivate var forms: [(slot: Int, form: _CellValue.Form)]?
    /// Whether the save assigned a key to an object that had none.
    fileprivate var isKeyNew = false

    fileprivate init(_ state: borrowing State, changeCount: Int) {
      content = state.content
      zIndex = state.zIndex
      savedCount = state.savedCount
      saved = state.extras.flatMap { unsafe $0.saved }
      otherIdentities = state.otherIdentities
      originals = state.originals
      self.changeCount = changeCount
    }

    /// The identity of the object in the store of its last save or fetch, or nil.
    fileprivate var identity: Identity? {
      content.map { Identity($0, zIndex: zIndex, savedCount: savedCount, saved) }
    }

    fileprivate func identity(in store: StoreIdentity) -> Identity? {
      content?.identity == store ? identity : otherIdentities?.first { $0.store == store }
    }
  }

  /// The current identities of the object, from which ``restore(_:)`` restores them if its removal
  /// is rolled back.
  var former: PreviousState {
    withState { state, _ in .known(Known(state, changeCount: state.changeCount)) }
  }

  /// Restores the state before a save or a removal in a store that was rolled back. A property that
  /// was set in the meantime keeps its value, and an identity in another store that has saved the
  /// object in the meantime is kept.
  ///
  /// - Parameters:
  ///   - former: The state.
  ///   - store: The store.
  ///   - isChangedInside: Returns whether a lazy value was changed in the meantime, which doesn't
  ///     increment the change number of its property.
  ///
  /// `dynamic` keeps the compiler from specializing this method for each closure.
  dynamic func restore(
    _ former: PreviousState, in store: StoreIdentity,
    isChangedInside: (_CellValue.Form) -> Bool = { _ in false }
  ) {
    switch former {
    case .known(var known):
      known.forms?.removeAll { isChangedInside(self[$0.slot]) }
      restore(known, in: store)
    case .new(let isKeyNew):
      var known = Known(State(), changeCount: 0)
      known.isKeyNew = isKeyNew
      restore(known, in: store)
    }
  }

  private func restore(_ former: Known, in store: StoreIdentity) {
    _ = withState { state, slots in
      var undone = Known(state, changeCount: 0)
      if let content = state.content, content.identity != store,
        content !== former.content || state.savedCount != former.savedCount
      {
        // Another store was the last one to save the object. Its values are the present ones.
        let before = former.identity(in: store)
        state.removeIdentity(in: store)
        if var before {
          before.state = SavedState(
            before.state?.links,
            originals: before.state?.originals ?? former.originals ?? state.originals
              ?? slots.copies)
          state.addOtherIdentity(before)
        }
        return undone
      }
      let count = former.changeCount
      var forms = former.forms ?? []
      if former.isKeyNew, let autoIncrementSlot = shape.autoIncrementSlot {
        forms.append((autoIncrementSlot, .unset))
      }
      for (slot, form) in forms where !slots.isChanged(slot, since: count) {
        undone.forms = (undone.forms ?? []) + [(slot, slots.exchange(form, slot))]
      }
      // Values that were set in the transaction that was rolled back, or later, are pending
      // changes.
      let isSet = (0..<slots.count).contains { slots.isChanged($0, since: count) }
      state.setOriginals(former.originals ?? (isSet ? state.originals : nil))
      state.setIdentity(former.identity)
      state.setOtherIdentities(former.otherIdentities)
      return undone
    }
  }

  /// Records that the object was removed from a store. Does nothing if the object has another
  /// z_index in the store by now.
  func removed(from store: StoreIdentity, _ zIndex: Int64) {
    _ = withState { state, _ in
      guard state.zIndex(in: store) == zIndex else {
        return (nil, nil, nil) as (Identity?, [Identity]?, SlotCopies?)
      }
      let before = (state.identity, state.otherIdentities, state.originals)
      state.removeIdentity(in: store)
      return before
    }
  }
}
