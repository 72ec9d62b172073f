import SQLiteCore
import Synchronization

/// The values of one object, and what the stores know it by.
package final class ObjectStorage: Sendable {
  /// What a store knows an object by.
  struct Identity: Sendable {
    let magic: MagicData
    let zIndex: Int64

    var store: StoreIdentity { magic.identity }
  }

  private struct State {
    var forms: [CellContent.Form]
    /// For each property how often it was set since it was saved or fetched.
    var changes: [UInt32]
    /// What the changed properties held when the object was saved or fetched.
    var originals: [Int: CellContent.Form] = [:]
    var identities: [Identity]
  }

  let plan: ObjectPlan
  private let state: Mutex<State>

  /// Takes over the values of an object.
  ///
  /// - Parameters:
  ///   - plan: The object's type.
  ///   - forms: One for each property.
  ///   - identity: What a store knows it by, if it was fetched.
  init(_ plan: ObjectPlan, _ forms: [CellContent.Form], identity: Identity?) {
    self.plan = plan
    state = Mutex(
      State(
        forms: forms, changes: Array(repeating: 0, count: forms.count),
        identities: identity.map { [$0] } ?? []))
  }

  subscript(slot: Int) -> CellContent.Form { state.withLock { $0.forms[slot] } }

  func set(_ form: CellContent.Form, at slot: Int) {
    state.withLock { state in
      if state.changes[slot] == 0, !state.identities.isEmpty {
        state.originals[slot] = state.forms[slot]
      }
      state.forms[slot] = form
      state.changes[slot] &+= 1
    }
  }

  func cache(_ form: CellContent.Form, at slot: Int) {
    state.withLock { $0.forms[slot] = form }
  }

  /// All values and the counts of their changes, as of one moment.
  var snapshot: (forms: [CellContent.Form], changes: [UInt32]) {
    state.withLock { ($0.forms, $0.changes) }
  }

  /// What the properties held when the object was saved or fetched, as of one moment.
  var originals: [CellContent.Form] {
    state.withLock { state in
      state.forms.indices.map { state.originals[$0] ?? state.forms[$0] }
    }
  }

  /// The object's z_index in a store, or nil if it is not there.
  func zIndex(in store: StoreIdentity) -> Int64? {
    state.withLock { state in state.identities.first { $0.store == store }?.zIndex }
  }

  /// What the store knows it by that it was last saved in or fetched from.
  var lastIdentity: Identity? { state.withLock { $0.identities.last } }

  /// Notes that the object is in a store, with the values of a snapshot.
  ///
  /// - Parameters:
  ///   - zIndex: What the store knows it by.
  ///   - magic: The store.
  ///   - changes: The counts of the snapshot; what was set since remains a change.
  ///   - settled: Values that the store made: a number that it counted up, an asset's id.
  func saved(
    as zIndex: Int64, in magic: MagicData, changes: [UInt32], settled: [(slot: Int, value: Value)]
  ) {
    state.withLock { state in
      state.identities.removeAll { $0.store == magic.identity }
      state.identities.append(Identity(magic: magic, zIndex: zIndex))
      for slot in changes.indices where state.changes[slot] == changes[slot] {
        state.changes[slot] = 0
        state.originals[slot] = nil
        for (settled, value) in settled where settled == slot { state.forms[slot] = .stored(value) }
      }
    }
  }

  /// Notes that the object was removed from a store.
  func removed(from store: StoreIdentity) {
    state.withLock { state in state.identities.removeAll { $0.store == store } }
  }

  /// A way back to what the object holds now, for when a transaction is undone.
  ///
  /// What is set meanwhile stays set.
  var wayBack: @Sendable () -> Void {
    let before = state.withLock { $0 }
    return { [self] in
      state.withLock { state in
        for slot in state.forms.indices where state.changes[slot] == 0 {
          state.forms[slot] = before.forms[slot]
          state.changes[slot] = before.changes[slot]
        }
        state.originals = before.originals
        state.identities = before.identities
      }
    }
  }
}
