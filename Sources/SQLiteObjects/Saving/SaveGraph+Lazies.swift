import SQLiteCore

// Lazy values.
extension SaveGraph.Walk {
  /// Adds the current state of a lazy value to the graph, and the objects that the value
  /// references.
  mutating func add(_ lazy: any LazyValue, _ slot: Int, of index: Int) throws {
    let (plan, storage) = (nodes[index].plan, nodes[index].storage)
    let property = plan.properties[slot]
    let state = try plan.namingProperty(property) { try lazy.box.folded() }
    if state.keys != nil {
      throw MagicError.unresolvedRelation(type: plan.typeName, property: property.name)
    }
    // A lazy asset is saved like any other asset.
    if let live = property.role.isAsset ? _LiveValue(lazy) : state.live {
      append(.init(slot: slot, box: lazy.box, state: state, isOwn: true), of: index)
      return try add(live, slot, of: index)
    }
    guard let source = state.source else {
      return deferred.append((slot, property.missingValue))
    }
    let isOwn =
      source.slot == slot && source.shape === storage.shape
      && storage.zIndex(in: source.content.identity) == source.zIndex
    if isOwn, source.content.identity != identity, nodes[index].snapshot.isKnown,
      state.isChanged(in: identity)
    {
      // The value is in another store, which may have other changes than those in memory.
      throw MagicError.foreignValue(type: plan.typeName, property: property.name)
    }
    // A value that belongs to another object remains a pending change of that object.
    append(.init(slot: slot, box: lazy.box, state: state, isOwn: isOwn), of: index)
    let isWritten = isOwn || isChanged(slot, of: index) || !nodes[index].snapshot.isKnown
    if isWritten, !state.edits.isEmpty {
      let edits = try edits(of: state, plan, property)
      self.edits.append(.init(slot: slot, collection: lazy.box, edits: edits))
    }
    deferred.append((slot, isOwn ? .untouched : .copy(source)))
  }

  private mutating func append(_ lazy: SaveGraph.Lazy, of index: Int) {
    // A clean object isn't written. Another task may have changed the value in the meantime.
    guard !nodes[index].isClean else { return }
    if !isChanged(lazy.slot, of: index), isChanged(lazy, of: index) {
      values.recordChange(nodes[index].first + lazy.slot)
    }
    lazies.append(lazy)
    nodes[index].lazies = nodes[index].lazies.lowerBound..<lazies.count
  }

  /// Returns whether a lazy value was set or changed since its property was saved. The last save of
  /// a value that was set may be that of another property.
  private func isChanged(_ lazy: SaveGraph.Lazy, of index: Int) -> Bool {
    let storage = nodes[index].storage
    if lazy.state.isChanged(in: identity) { return true }
    guard lazy.state.live != nil, let save = lazy.state.save(in: identity) else { return false }
    return !save.source.isProperty(lazy.slot, of: storage.shape, storage.zIndex(in: identity))
  }

  /// Returns the pending changes of a lazy collection that wasn't set, and adds the objects that
  /// the changes reference to the graph. Objects that a later change removes again are omitted.
  private mutating func edits(
    of state: LazyState, _ plan: ObjectPlan, _ property: ObjectProperty
  ) throws -> [(number: Int, change: LinkEdit<SaveGraph.EditTarget>)] {
    let removed = LazyRemovals(state.edits)
    var edits: [(number: Int, change: LinkEdit<SaveGraph.EditTarget>)] = []
    // An object that the same save adds and removes may not have a z_index yet.
    var added: [ObjectIdentifier: SaveGraph.EditTarget] = [:]
    func target(_ live: _LiveValue) throws -> SaveGraph.EditTarget {
      let target = SaveGraph.EditTarget.saved(try self.target(live, plan, property))
      if let storage = live.storage { added[ObjectIdentifier(storage)] = target }
      return target
    }
    for (index, edit) in state.edits.enumerated() {
      switch edit.change {
      case .add(let lives, let position):
        let kept = try lives.filter { !removed.removes($0, after: index) }
          .map { try target($0) }
        edits.append((edit.number, .add(kept, at: position)))
      case .put(let live, let key):
        if removed.removes(live, after: index) {
          edits.append((edit.number, .removeKey(key)))
        } else {
          edits.append((edit.number, .put(try target(live), key: key)))
        }
      case .remove(let live):
        // An object that was never saved isn't in the collection.
        guard let known = live.storage else { continue }
        edits.append((edit.number, .remove(added[ObjectIdentifier(known)] ?? .known(known))))
      case .removeKey(let key): edits.append((edit.number, .removeKey(key)))
      case .removeAll: edits.append((edit.number, .removeAll))
      }
    }
    return edits
  }
}

/// The objects that the changes of a lazy collection remove. An object that one change adds and a
/// later one removes needn't be saved.
private struct LazyRemovals {
  /// The index of the last change that removes each object, by the object's identity.
  private var last: [MagicIdentity: Int] = [:]
  /// The index of the last change that removes all objects, or -1.
  private var all = -1
  /// The index of the last change that inserts objects at a given position, or -1. Objects that
  /// were added before this change must be saved even if they are removed later, because the
  /// position depends on them.
  private var inserted = -1

  init(_ edits: [LazyEdit]) {
    for (index, edit) in edits.enumerated() {
      switch edit.change {
      case .remove(let target): last[MagicIdentity(target, in: nil)] = index
      case .removeAll: all = index
      case .add(_, at: .some): inserted = index
      case .add, .put, .removeKey: break
      }
    }
  }

  func removes(_ target: _LiveValue, after index: Int) -> Bool {
    guard inserted <= index else { return false }
    if all > index { return true }
    guard !last.isEmpty else { return false }
    return last[MagicIdentity(target, in: nil)].map { $0 > index } ?? false
  }
}

extension _LiveValue {
  /// The storage of the object, or nil if the value is not an object or has no storage yet.
  fileprivate var storage: ObjectStorage? {
    func storage(of object: some MagicObject) -> ObjectStorage? {
      PropertyCollector.firstCell(of: object)?.address?.storage
    }
    return (value as? any MagicObject).flatMap { storage(of: $0) }
  }
}
