import SQLiteCore

// What a store knows of the object, and learns of it by saving, removing and undoing.
extension ObjectStorage {
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
  func originals(in store: StoreIdentity) -> SlotCopies? {
    withState { state, slots in
      guard let identity = state.identity(in: store) else { return nil }
      return identity.state?.originals ?? state.originals ?? slots.copies
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
  /// - Returns: What was replaced. It is for ``restore(_:)``, and must not be released while the state is locked.
  func saved(
    as zIndex: Int64, in content: StoreContent, _ snapshot: Snapshot, _ values: SlotCopies,
    first: Int, settled: [(slot: Int, form: _CellValue.Form)], links: [KnownLinks]?
  ) -> Former {
    let (store, count) = (content.identity, snapshot.changeCount)
    return withState { state, slots -> Former in
      if state.content == nil, state.extras == nil, links == nil, settled.isEmpty {
        (state.content, state.zIndex) = (content, zIndex)
        guard let counting = shape.counting, case .unset = slots[counting] else {
          return .new(isKeyNew: false)
        }
        slots.fill(.stored(.integer(zIndex)), counting)
        return .new(isKeyNew: true)
      }
      var former = Known(state, changeCount: count)
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
      if let known { slots.settleAssets(known, shape, since: count, &former.forms) }
      if let counting = shape.counting, !slots.isChanged(counting, since: count) {
        if case .unset = slots[counting] {
          former.isKeyNew = true
          slots.fill(.stored(.integer(zIndex)), counting)
        } else {
          slots.settle(.stored(.integer(zIndex)), counting, &former.forms)
        }
      }
      for (slot, form) in settled where !slots.isChanged(slot, since: count) {
        slots.settle(form, slot, &former.forms)
      }
      guard let extras = state.extras else { return .known(former) }
      guard unsafe extras.changeCount != count else {
        unsafe extras.originals = nil
        return .known(former)
      }
      // A property that was set since was saved as it was in the snapshot.
      let originals = slots.copies
      for slot in 0..<slots.count where slots.isChanged(slot, since: count) {
        originals[slot] = values[first + slot]
      }
      unsafe extras.originals = originals
      return .known(former)
    }
  }

  /// What a save has replaced.
  enum Former: Sendable {
    /// No store knew the object, and nothing was set since it got its storage.
    ///
    /// - Parameter isKeyNew: Whether the save gave a key to an object that had none.
    case new(isKeyNew: Bool)
    case known(Known)
  }

  /// What stores knew of an object before a save, and the values that the save has replaced.
  struct Known: Sendable {
    fileprivate let content: StoreContent?
    fileprivate let zIndex: Int64
    fileprivate let savedCount: Int
    fileprivate let saved: SavedState?
    fileprivate let otherIdentities: [Identity]?
    fileprivate let originals: SlotCopies?
    fileprivate let changeCount: Int
    fileprivate var forms: [(slot: Int, form: _CellValue.Form)]?
    /// Whether the save gave a key to an object that had none.
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

  }

  /// What stores know of the object now.
  var former: Former {
    withState { state, _ in .known(Known(state, changeCount: state.changeCount)) }
  }

  /// Undoes a save or a removal. A property that was set meanwhile stays set.
  func restore(_ former: Former) {
    switch former {
    case .known(let known): restore(known)
    case .new(let isKeyNew):
      var known = Known(State(), changeCount: 0)
      known.isKeyNew = isKeyNew
      restore(known)
    }
  }

  private func restore(_ former: Known) {
    _ = withState { state, slots in
      var undone = Known(state, changeCount: 0)
      let count = former.changeCount
      var forms = former.forms ?? []
      if former.isKeyNew, let counting = shape.counting { forms.append((counting, .unset)) }
      for (slot, form) in forms where !slots.isChanged(slot, since: count) {
        undone.forms = (undone.forms ?? []) + [(slot, slots.exchange(form, slot))]
      }
      // Values that were set in the undone transaction, or since, are changes.
      let isSet = (0..<slots.count).contains { slots.isChanged($0, since: count) }
      state.setOriginals(former.originals ?? (isSet ? state.originals : nil))
      state.setIdentity(
        former.content.map {
          Identity($0, zIndex: former.zIndex, savedCount: former.savedCount, former.saved)
        })
      state.setOtherIdentities(former.otherIdentities)
      return undone
    }
  }

  /// Notes that the object was removed from a store, unless that knows it by another row meanwhile.
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
