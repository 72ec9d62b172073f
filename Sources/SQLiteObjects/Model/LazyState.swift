import SQLiteCore
import SQLiteRelations
import Synchronization

/// A reference to a lazy property of an object in a store. The value of the property stays in the
/// store until it is requested.
package struct LazySource: Sendable {
  /// The store, and the generation of its contents that contains the object.
  let content: StoreContent
  /// The shape of the type of the object that has the property.
  let shape: ObjectShape
  /// The slot of the lazy property in its object.
  let slot: Int
  /// The z_index of the object that has the property.
  let zIndex: Int64

  /// Returns whether this references a property of an object in the same store.
  func isProperty(_ slot: Int, of shape: ObjectShape, _ zIndex: Int64?) -> Bool {
    self.zIndex == zIndex && self.slot == slot && self.shape.type == shape.type
  }
}

/// An unsaved change of a lazy collection.
struct LazyEdit: Sendable {
  /// The number of the change: the value of ``LazyState/number`` after it.
  let number: Int
  let change: LinkEdit<_LiveValue>
}

/// The links of a lazy collection when they were last fetched or saved.
package struct LazyLinks: Sendable {
  let store: StoreIdentity
  let owner: Int64
  let links: LinkTargets

  /// Returns the links, or nil if they are the links of another owner or were read from another
  /// store.
  func links(of owner: Int64, in store: StoreIdentity) -> LinkTargets? {
    self.owner == owner && self.store == store ? links : nil
  }
}

/// The state of a lazy value at one moment.
package struct LazyState: Sendable {
  enum Content: Sendable {
    /// The value was never set, and its object isn't in a store.
    case unset
    /// A value in a store.
    case stored(LazySource)
    /// The keys of a relation that was decoded and not resolved yet.
    case decoded(RelationKeys)
    /// A value that was set.
    case set(_LiveValue)
  }

  /// A save of the value.
  struct Save {
    /// The property that was saved.
    let source: LazySource
    /// The value of ``LazyState/number`` that was saved.
    let number: Int

    fileprivate var store: StoreIdentity { source.content.identity }
  }

  var content: Content
  /// The changes of a collection since it was set or, if it is in the store, since it was saved.
  var edits: [LazyEdit] = []
  /// The number of times that the value was set or changed.
  var number = 0
  /// The last save, or nil if no store has saved the value.
  private var lastSave: Save?
  /// The last save in each other store.
  private var otherSaves: [Save] = []
  /// The links when they were last fetched or saved, or nil if they are unknown. A save writes only
  /// the difference between them and a value that was set.
  var base: LazyLinks?

  init(_ content: Content, number: Int = 0) {
    self.content = content
    self.number = number
  }

  /// The value that was set, or nil.
  var live: _LiveValue? {
    if case .set(let live) = content { live } else { nil }
  }

  /// The property in a store that has the value, or nil if the value isn't in a store.
  var source: LazySource? {
    if case .stored(let source) = content { source } else { nil }
  }

  /// The keys of a relation that was decoded and not resolved yet, or nil.
  var keys: RelationKeys? {
    if case .decoded(let keys) = content { keys } else { nil }
  }

  /// Returns the last save in a store, or nil if there was none.
  func save(in store: StoreIdentity) -> Save? {
    if let lastSave, lastSave.store == store { return lastSave }
    return otherSaves.first { $0.store == store }
  }

  private mutating func setSave(_ save: Save?, in store: StoreIdentity) {
    otherSaves.removeAll { $0.store == store }
    if let lastSave, lastSave.store != store { otherSaves.append(lastSave) }
    lastSave = save
  }

  /// Returns the value of ``number`` at the last save in a store, or 0 if there was none.
  func savedNumber(in store: StoreIdentity) -> Int { save(in: store)?.number ?? 0 }

  /// Returns the property that contains a value that was set, or nil if the value has unsaved
  /// changes. If the store hasn't saved the value, returns the property in the store of the last
  /// save.
  func savedSource(in store: StoreIdentity) -> LazySource? {
    guard let save = save(in: store) ?? lastSave, save.number >= number else { return nil }
    return save.source
  }

  /// Returns whether the value has been set or changed since the last save in a store.
  func isChanged(in store: StoreIdentity) -> Bool { number > savedNumber(in: store) }

  /// The unsaved changes of a collection, in the order in which they were made.
  var changes: [LinkEdit<_LiveValue>] { edits.map(\.change) }

  /// The values that may hold references to other objects.
  var held: [_CellValue.Form] {
    var held: [_CellValue.Form] = live.map { [.live($0)] } ?? []
    for edit in edits {
      switch edit.change {
      case .add(let targets, _): held += targets.map { .live($0) }
      case .put(let target, _), .remove(let target): held.append(.live(target))
      case .removeKey, .removeAll: break
      }
    }
    return held
  }
}

extension LazyState {
  /// Sets the value, and discards the recorded changes of the collection.
  mutating func set(_ live: _LiveValue) {
    content = .set(live)
    edits = []
    number += 1
  }

  /// Records a change of the collection, for the next save to write.
  mutating func change(_ change: LinkEdit<_LiveValue>) {
    number += 1
    edits.append(LazyEdit(number: number, change: change))
  }

  /// Records that the value was saved.
  ///
  /// - Parameters:
  ///   - state: The state that was saved.
  ///   - base: The links that were saved, or nil if they are unknown.
  ///   - source: The property that was saved.
  ///   - isStored: Whether the value is read from the property from now on. Otherwise it stays in
  ///     memory.
  mutating func recordSave(
    _ state: LazyState, base: LazyLinks?, as source: LazySource, isStored: Bool
  ) {
    let store = source.content.identity
    let saved = max(savedNumber(in: store), state.number)
    setSave(Save(source: source, number: saved), in: store)
    if isStored, number == state.number { content = .stored(source) }
    if self.source?.content.identity == store { edits.removeAll { $0.number <= saved } }
    if let base { self.base = base }
  }

  /// Records that the transaction that saved the value was rolled back.
  ///
  /// - Parameters:
  ///   - state: The state that was saved.
  ///   - store: The store.
  mutating func recordRollback(_ state: LazyState, in store: StoreIdentity) {
    let saved = min(savedNumber(in: store), state.savedNumber(in: store))
    if saved == state.savedNumber(in: store) { setSave(state.save(in: store), in: store) }
    base = state.base
    guard source != nil else { return }
    if state.live != nil { content = state.content }
    let back = state.edits.filter { $0.number > saved }
    edits = back + edits.filter { $0.number > back.last?.number ?? saved }
  }

  /// Returns a state in which the recorded changes are applied to the collection that was set. If
  /// no collection was set, returns this state unchanged.
  func folded() throws -> LazyState {
    guard !edits.isEmpty, case .set(let live) = content,
      let collection = live.value as? any MagicCollection
    else { return self }
    var folded = self
    folded.content = .set(_LiveValue(try collection.applying(changes, in: nil)))
    folded.edits = []
    return folded
  }
}

/// A value that is loaded on demand.
package protocol LazyValue: Codable {
  /// The role of a property of this type.
  static var role: _PropertyRole { get }
  /// Creates a value that is loaded from a property in a store, or an unset value if `source` is
  /// nil.
  init(source: LazySource?)
  /// Creates a value from the keys of a relation that was decoded.
  init(unresolved keys: RelationKeys)
  /// The storage of the value's state.
  var box: LazyBox { get }
}

/// The storage of a lazy value's state. All copies of the value reference the same box.
///
/// A box is Sendable, whatever the type of the value. The value leaves it only through an
/// ``AsyncMagical``, which is Sendable only if the type is.
package final class LazyBox: Sendable {
  /// The `deinit` of a value may access this value, so no value is released while this is locked.
  private let current: Mutex<LazyState>

  init(_ state: LazyState) {
    current = Mutex(state)
  }

  deinit {
    IterativeRelease.forms(
      current.withLock { state in
        let held = state.held
        state = LazyState(.unset)
        return held
      })
  }

  /// A copy of the current state.
  var state: LazyState { current.withLock { $0 } }

  /// Changes the state. What the change replaces is released after the lock.
  private func update(_ body: (inout LazyState) -> Void) {
    _ = current.withLock { state in
      let former = state
      body(&state)
      return former
    }
  }

  /// Sets the value, and discards the recorded changes of the collection.
  func set(_ live: _LiveValue) { update { $0.set(live) } }

  /// Records a change of the collection, for the next save to write.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - empty: The value of a collection that was never set, or nil if the type has no empty value.
  func change(_ change: LinkEdit<_LiveValue>, orEmpty empty: _LiveValue?) {
    update { state in
      if case .unset = state.content, let empty { state.content = .set(empty) }
      state.change(change)
    }
  }

  /// Records the links of the collection that a fetch has returned, so that the next save can write
  /// only the difference from them.
  ///
  /// - Parameters:
  ///   - links: The links in the store.
  ///   - state: The state before the fetch. If a save has finished in the meantime, the links count
  ///     as unknown.
  func show(_ links: LazyLinks, after state: LazyState) {
    update { current in
      guard current.source?.zIndex == links.owner else { return }
      // If changes were saved during the fetch, its result may include them, and the links before
      // them are unknown.
      let isSame =
        current.savedNumber(in: links.store) == state.savedNumber(in: links.store)
      current.base = isSame ? links : nil
    }
  }

  /// Applies the recorded changes to a collection that was set, and returns the resulting state.
  func folded() throws -> LazyState {
    let state = state
    if state.edits.isEmpty || state.live == nil { return state }
    let folded = try state.folded()
    update { current in
      if current.number == state.number, current.edits.count == state.edits.count {
        current.content = folded.content
        current.edits = []
      }
    }
    return folded
  }

  /// Records that the value was saved.
  ///
  /// - Parameters:
  ///   - state: The state that was saved.
  ///   - base: The links that were saved, or nil if they are unknown.
  ///   - source: The property that was saved.
  ///   - isStored: Whether the value is read from the property from now on. Otherwise it stays in
  ///     memory.
  func saved(
    _ state: LazyState, _ base: LazyLinks?, as source: LazySource, isStored: Bool
  ) {
    update { $0.recordSave(state, base: base, as: source, isStored: isStored) }
  }

  /// Records that the transaction that saved the value was rolled back.
  ///
  /// - Parameters:
  ///   - state: The state that was saved.
  ///   - store: The store.
  func unsaved(_ state: LazyState, in store: StoreIdentity) {
    update { $0.recordRollback(state, in: store) }
  }
}
