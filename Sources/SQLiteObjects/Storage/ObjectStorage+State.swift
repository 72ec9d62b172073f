// The identities of an object in stores, and its pending changes.
extension ObjectStorage {
  /// The identity of an object in a store.
  struct Identity: Sendable {
    /// The store, and the generation of its contents that contains the object.
    let content: StoreContent
    let zIndex: Int64
    /// The object's change count when it was last saved in the store, or 0 for a fetch.
    var savedCount = 0
    /// The saved links and original values of the object in the store, or nil if it has neither.
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
    /// Whether the store's contents haven't been replaced since the object was saved or fetched.
    var isCurrent: Bool { content.isCurrent }

    func isPresent(in store: StoreIdentity) -> Bool {
      content.identity == store && content.isCurrent
    }
  }

  /// State in a store that most objects lack: saved links, and original values if the object is in
  /// several stores.
  final class SavedState: Sendable {
    /// The links that were saved, or nil if none were. The links of other properties are in the
    /// fetch.
    let links: [KnownLinks]?
    /// The values at the last save in the store or fetch from it, or nil if no other store has
    /// saved the object since.
    let originals: SlotCopies?

    init(_ links: [KnownLinks]?, originals: SlotCopies? = nil) {
      self.links = links
      self.originals = originals
    }
  }

  /// The state of an object in a store at the moment when its values were copied.
  struct Snapshot: Sendable {
    /// The number of changes of the object's properties so far.
    let changeCount: Int
    /// The change count at the last save in the store, or at the fetch from it.
    let savedCount: Int
    /// Whether the object is in the store.
    let isKnown: Bool
    /// Whether the object was in the store before the store's contents were replaced.
    let isOutdated: Bool
    /// The object's key in the store, or nil if another store was the last one to save or fetch it.
    let zIndex: Int64?

    /// The state of an object whose storage was just created.
    static var ofNewObject: Snapshot {
      Snapshot(changeCount: 0, savedCount: 0, isKnown: false, isOutdated: false, zIndex: nil)
    }

    /// Whether the store was the last one to save or fetch the object, and no property has been set
    /// since.
    var isClean: Bool { zIndex != nil && changeCount <= savedCount }
  }

  /// State that only some objects need: those with changes, links or assets, and those in several
  /// stores.
  ///
  /// Proof: it is accessed only through the one ``State`` that holds it, while that is locked, and
  /// no function lets it escape from the lock.
  final class Extras: @unchecked Sendable {
    /// The object's change count. Each change of a property increments it.
    @exclusivity(unchecked) var changeCount = 0
    /// The object's change count at the last save, or 0 if it hasn't been saved since it was
    /// fetched.
    @exclusivity(unchecked) var savedCount = 0
    /// The saved links and original values in the store of the last save or fetch, or nil if there
    /// are none.
    @exclusivity(unchecked) var saved: SavedState?
    /// The values at the last save or fetch, or nil if no property has been set since.
    @exclusivity(unchecked) var originals: SlotCopies?
    /// The object's identities in stores other than that of the last save or fetch, or nil if there
    /// are none.
    @exclusivity(unchecked) var otherIdentities: [Identity]?
    /// The caches of the contents of assets by slot, or nil if none was created.
    @exclusivity(unchecked) var assetCaches: [Int: AssetCache]?
  }

  struct State: Sendable {
    /// The store of the last save or fetch, or nil if the object is in no store.
    var content: StoreContent?
    /// The object's key in the store of the last save or fetch, or 0 if there is no such store.
    var zIndex: Int64 = 0
    var extras: Extras?

    /// The object's change count.
    var changeCount: Int { unsafe extras?.changeCount ?? 0 }
    var otherIdentities: [Identity]? { unsafe extras?.otherIdentities }
    var originals: SlotCopies? { unsafe extras?.originals }

    /// The object's identity in the store of the last save or fetch, or nil if there is no such
    /// store.
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
      let extras = ensureExtras()
      unsafe extras.savedCount = identity?.savedCount ?? 0
      unsafe extras.saved = identity?.state
    }

    /// Returns the extras, and creates them if necessary.
    mutating func ensureExtras() -> Extras {
      if let extras { return extras }
      let made = Extras()
      extras = made
      return made
    }

    mutating func setOtherIdentities(_ identities: [Identity]?) {
      guard extras != nil || identities != nil else { return }
      let extras = ensureExtras()
      unsafe extras.otherIdentities = identities
    }

    mutating func setOriginals(_ originals: SlotCopies?) {
      guard extras != nil || originals != nil else { return }
      let extras = ensureExtras()
      unsafe extras.originals = originals
    }

    /// Returns the cache of an asset's content, and creates it if necessary.
    mutating func assetCache(of slot: Int) -> AssetCache {
      let extras = ensureExtras()
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

    /// Returns the object's key in a store and its change count at the last save there, or nil if
    /// the object isn't in the store.
    func position(in store: StoreIdentity) -> (zIndex: Int64, savedCount: Int)? {
      if isLast(in: store) { return (zIndex, savedCount) }
      return otherIdentities?.first { $0.isPresent(in: store) }.map { ($0.zIndex, $0.savedCount) }
    }

    /// The object's change count at the last save, or 0 if it hasn't been saved since it was
    /// fetched.
    var savedCount: Int { unsafe extras?.savedCount ?? 0 }

    /// Returns whether the object was last saved in, or fetched from, the current contents of a
    /// store. Doesn't copy the identity.
    @inline(__always) private func isLast(in store: StoreIdentity) -> Bool {
      guard let content else { return false }
      return content.identity == store && content.isCurrent
    }

    /// Returns the change counts of the object and its status in a store.
    func snapshot(for store: StoreIdentity) -> Snapshot {
      if let content, content.identity == store {
        // No other identity belongs to the same store.
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
      // The store of the previous save or fetch becomes the last one again.
      unsafe extras.originals = before
      unsafe extras.saved = saved.links.map { SavedState($0) }
    }

    /// Records an identity in the store that has just saved the object.
    ///
    /// - Parameters:
    ///   - new: The identity.
    ///   - slots: The object's values.
    mutating func identify(_ new: Identity, _ slots: Slots) {
      if let content, content.identity != new.store, let other = identity {
        let extras = ensureExtras()
        unsafe extras.otherIdentities?.removeAll { $0.store == new.store }
        let state = SavedState(
          other.state?.links, originals: unsafe extras.originals ?? slots.copies)
        addOtherIdentity(
          Identity(other.content, zIndex: other.zIndex, savedCount: other.savedCount, state))
      }
      setIdentity(new)
    }

    /// Records an identity in a store other than that of the last save or fetch. It replaces the
    /// former identity in this store.
    mutating func addOtherIdentity(_ other: Identity) {
      let others = (otherIdentities ?? []).filter { $0.store != other.store }
      setOtherIdentities(others + [other])
    }
  }
}
