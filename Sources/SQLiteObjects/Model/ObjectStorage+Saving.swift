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
    guard let context, context.store == store, identity.zIndex == fetchedZIndex else {
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
      let originals = slots.copies
      for slot in 0..<slots.count where slots.isChanged(slot, since: count) {
        originals[slot] = values[first + slot]
      }
      replaced.originals = originals
      unsafe swap(&extras.originals, &replaced.originals)
      return replaced
    }
  }

  /// The values that a save replaces.
  private struct Replaced: Sendable {
    let content: StoreContent?
    let saved: SavedState?
    var otherIdentities: [Identity]?
    var originals: SlotCopies?
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
        return (nil, nil, nil) as (Identity?, [Identity]?, SlotCopies?)
      }
      let before = (state.identity, state.otherIdentities, state.originals)
      state.removeIdentity(in: store)
      return before
    }
  }

  /// The identities of an object in all stores.
  struct Identities: Sendable {
    let last: Identity?
    let others: [Identity]?
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
        forms: slots.copies, changeCount: state.changeCount, originals: state.originals,
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
          } else if !shape.properties[slot].isEager {
            // A relation is what it was; only its form may be another one now.
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
