import SQLiteCore
import SQLiteMapping

extension SaveCollector {
  /// What is to be written of a lazy value, as of one moment.
  mutating func value(
    of lazy: any LazyValue, _ slot: Int, _ form: CellContent.Form, _ node: inout SaveNode
  ) throws -> SaveValue {
    let storage = node.storage
    let property = storage.plan.properties[slot]
    let state = try storage.plan.refusing(property) { try lazy.folded() }
    if state.keys != nil {
      throw MagicError.unresolvedRelation(type: storage.plan.typeName, property: property.name)
    }
    // An asset knows itself what to do.
    if let form = property.role.isAsset ? form : state.live.map({ .live($0) }) {
      node.lazy.append((slot, lazy, state, true))
      return try value(of: form, slot, isSet: node.isChanged(slot), storage, node.context)
    }
    guard let source = state.source else { return .missing }
    let isOwn =
      source.slot == slot && source.plan === storage.plan
      && storage.zIndex(in: source.store.identity) == source.zIndex
    // What is saved of another object's value here remains to be saved there.
    node.lazy.append((slot, lazy, state, isOwn))
    let isWritten =
      isOwn || node.isChanged(slot) || storage.zIndex(in: store.identity) == nil
    if isWritten, !state.edits.isEmpty {
      let edits = try edits(of: state, storage, property)
      node.edits.append(SaveEdits(slot: slot, value: lazy, edits: edits))
    }
    return isOwn ? .untouched : .copy(source)
  }

  /// The changes of a collection that was left in the store.
  private mutating func edits(
    of state: LazyState, _ storage: ObjectStorage, _ property: ObjectPlan.Property
  ) throws -> [(number: Int, change: LinkEdit<EditTarget>)] {
    let removed = LazyRemovals(state.edits)
    var edits: [(number: Int, change: LinkEdit<EditTarget>)] = []
    // Those that are added and removed by one save have no z_index before it.
    var added: [ObjectIdentifier: EditTarget] = [:]
    func target(_ live: LiveValue) throws -> EditTarget {
      let target = EditTarget.saved(try add(live, storage, property))
      if let storage = live.storage { added[ObjectIdentifier(storage)] = target }
      return target
    }
    for (index, edit) in state.edits.enumerated() {
      switch edit.change {
      case .add(let lives, let place):
        let kept = try lives.filter { !removed.removes($0, after: index) }
          .map { try target($0) }
        edits.append((edit.number, .add(kept, at: place)))
      case .put(let live, let key):
        if removed.removes(live, after: index) {
          edits.append((edit.number, .removeKey(key)))
        } else {
          edits.append((edit.number, .put(try target(live), key: key)))
        }
      case .remove(let live):
        // One that was never saved is not there.
        guard let known = live.storage else { continue }
        edits.append((edit.number, .remove(added[ObjectIdentifier(known)] ?? .known(known))))
      case .removeKey(let key): edits.append((edit.number, .removeKey(key)))
      case .removeAll: edits.append((edit.number, .removeAll))
      }
    }
    return edits
  }
}

/// What changes of a lazy collection remove that others before them have added: it needs not be saved.
private struct LazyRemovals {
  /// Where each object is removed last.
  private var places: [MagicIdentity: Int] = [:]
  /// Where all are removed last.
  private var all = -1
  /// Where something is inserted last at a place that is counted off, which needs what comes before it.
  private var inserted = -1

  init(_ edits: [LazyEdit]) {
    for (index, edit) in edits.enumerated() {
      switch edit.change {
      case .remove(let target): places[MagicIdentity(target, in: nil)] = index
      case .removeAll: all = index
      case .add(_, at: .some): inserted = index
      case .add, .put, .removeKey: break
      }
    }
  }

  func removes(_ target: LiveValue, after index: Int) -> Bool {
    guard inserted <= index else { return false }
    if all > index { return true }
    guard !places.isEmpty else { return false }
    return places[MagicIdentity(target, in: nil)].map { $0 > index } ?? false
  }
}

extension LiveValue {
  /// The storage of an object, if it has one.
  fileprivate var storage: ObjectStorage? {
    func storage(of object: some MagicObject) -> ObjectStorage? {
      PropertyCollector.firstCell(of: object)?.place?.storage
    }
    return (value as? any MagicObject).flatMap { storage(of: $0) }
  }
}
