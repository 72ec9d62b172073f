// What stores know of an object, and what it knows of its changes.
extension ObjectStorage {
  /// The identity of an object in a store.
  struct Identity: Sendable {
    /// The store, with the content that the object is in.
    let content: StoreContent
    let zIndex: Int64
    /// The number of the object's changes when it was saved there, or 0 for a fetch.
    var savedCount = 0
    /// What else is known of the object there; nil for nothing.
    var state: SavedState?

    init(
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

    func isPresent(in store: StoreIdentity) -> Bool {
      content.identity == store && content.isCurrent
    }
  }

  /// What most objects have not: links that a store has saved, or values that another store has changed.
  final class SavedState: Sendable {
    /// The links that were saved, unless they were none. Others are known to the fetch.
    let links: [KnownLinks]?
    /// The values at the last save or fetch there, if another store got to know the object since.
    let originals: SlotCopies?

    init(_ links: [KnownLinks]?, originals: SlotCopies? = nil) {
      self.links = links
      self.originals = originals
    }
  }

  /// The state of an object at the moment at which its values were taken.
  struct Snapshot: Sendable {
    /// The number of the object's changes.
    let changeCount: Int
    /// Their number at the last save in the store, or at the fetch from it.
    let savedCount: Int
    /// Whether the store knew the object.
    let isKnown: Bool
    /// Whether the store knew the object before its content was replaced.
    let isOutdated: Bool
    /// The object's key in the store, if the store was the last one to save or fetch it.
    let zIndex: Int64?

    /// The state of an object that has just got its storage.
    static var ofNewObject: Snapshot {
      Snapshot(changeCount: 0, savedCount: 0, isKnown: false, isOutdated: false, zIndex: nil)
    }

    /// Whether the store was the last one to save or fetch the object, and no property was set since.
    var isClean: Bool { zIndex != nil && changeCount <= savedCount }
  }

  /// What only objects have that were changed, or that several stores know, or with links or assets.
  ///
  /// Proof: it is reached by the one ``State`` that holds it, while that is locked, and no
  /// function hands it out.
  final class Extras: @unchecked Sendable {
    /// The number of the object's changes.
    @exclusivity(unchecked) var changeCount = 0
    /// Their number when the object was saved by its last identity, or 0 for a fetch.
    @exclusivity(unchecked) var savedCount = 0
    /// What else is known of the object there.
    @exclusivity(unchecked) var saved: SavedState?
    /// The values at the last save or fetch, if a property was set since.
    @exclusivity(unchecked) var originals: SlotCopies?
    /// The identities in other stores.
    @exclusivity(unchecked) var otherIdentities: [Identity]?
    /// The contents of assets that somebody may hold, by their properties.
    @exclusivity(unchecked) var assetCaches: [Int: AssetCache]?
  }

  struct State: Sendable {
    /// The store of the last save or fetch.
    var content: StoreContent?
    /// The object's key there.
    var zIndex: Int64 = 0
    var extras: Extras?

    /// The number of the object's changes.
    var changeCount: Int { unsafe extras?.changeCount ?? 0 }
    var otherIdentities: [Identity]? { unsafe extras?.otherIdentities }
    var originals: SlotCopies? { unsafe extras?.originals }

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

    mutating func setOriginals(_ originals: SlotCopies?) {
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
          isOutdated: !isCurrent, zIndex: isCurrent ? zIndex : nil)
      }
      let other = otherIdentities?.first { $0.isPresent(in: store) }
      return Snapshot(
        changeCount: changeCount, savedCount: other?.savedCount ?? 0, isKnown: other != nil,
        isOutdated: isOutdated(in: store), zIndex: nil)
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
          other.state?.links, originals: unsafe extras.originals ?? slots.copies)
        let former = Identity(
          other.content, zIndex: other.zIndex, savedCount: other.savedCount, state)
        unsafe extras.otherIdentities = (extras.otherIdentities ?? []) + [former]
      }
      setIdentity(new)
    }
  }
}
