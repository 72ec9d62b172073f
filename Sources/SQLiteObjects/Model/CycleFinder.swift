import Synchronization

/// A search for reference cycles of objects. It makes the references within a cycle weak, so that
/// the objects are released together when the program has no reference to any of them.
///
/// Groups that reference each other in a cycle become members of a ``ReferenceCycle``, and their
/// references to each other become ``WeakObjectReference``s, which are weak. References of a group
/// that has left its cycle become strong again. The members of a cycle are a strongly connected
/// component of the graph of groups. Tarjan's algorithm finds these components. It is implemented
/// without recursion, because a chain of objects can be as long as memory permits.
struct CycleFinder {
  /// A target of a relation, and its context, which is nil if the target can't be part of a cycle
  /// of groups.
  private typealias Target = (target: RelationTarget, context: FetchContext?)

  /// A relation property of an object, with the targets that it had when the search read it.
  private struct Relation {
    let storage: ObjectStorage
    let slot: Int
    /// Whether the property is lazy. The references in a lazy value that was set remain strong
    /// until the value is saved.
    var isLazy: Bool { storage.shape.properties[slot].role.isLazy }
    /// The change number of the property when the search read it.
    let change: Int
    let targets: [Target]
  }

  private struct Visit {
    let context: FetchContext
    let relations: [Relation]
    /// The contexts of the groups that this group references and the search hasn't visited yet.
    var unvisited: [FetchContext]
    /// The lowest index of a visit that is known to be reachable from this one: the low-link of
    /// Tarjan's algorithm.
    var lowest: Int
    var component: Int?
    /// Whether the search has found a reference from the group to itself.
    var referencesItself = false
  }

  /// The relations that can be part of a cycle, or nil for all.
  private let properties: Set<PropertyKey>?
  private var visits: [Visit] = []
  private var indexes: [ObjectIdentifier: Int] = [:]
  private var components: [[Int]] = []

  private init(_ properties: Set<PropertyKey>?) { self.properties = properties }

  /// The lock that serializes searches, because a search must not find a cycle that another one has
  /// only partly created.
  private static let searchLock = Mutex(())

  /// Finds the cycles that changes of relations have closed or opened, and updates the references
  /// in them.
  ///
  /// - Parameters:
  ///   - changed: The objects with changed relations, their contexts, and the slots of these
  ///     relations.
  ///   - properties: The relations that can be part of a cycle, or nil for all.
  static func updateCycles(
    _ changed: [(storage: ObjectStorage, context: FetchContext, slots: [Int])],
    through properties: Set<PropertyKey>?
  ) {
    // Everything is released after the search, because the `deinit` of an object may save other
    // objects.
    var finder = CycleFinder(properties)
    var released: [ReferenceCycle] = []
    searchLock.withLock { _ in
      for (storage, context, slots) in changed {
        if context.cycle != nil { finder.search(from: context) }
        // A relation closes a cycle if its owner can be reached from its target.
        for slot in slots {
          for (_, target) in relation(storage, slot, context)?.targets ?? [] {
            if let target { finder.search(from: target) }
          }
        }
      }
      released = finder.updateCycles()
    }
    withExtendedLifetime((finder, released)) {}
  }

  /// Returns the objects that a property references, or nil if none of them is in a group that may
  /// reference others.
  private static func relation(
    _ storage: ObjectStorage, _ slot: Int, _ context: FetchContext
  ) -> Relation? {
    try? storage.reading(slot) { form, change -> Relation? in
      let targets: [RelationTarget]
      switch form {
      case .targets(let known): targets = known
      case .live(let live): targets = CycleFinder.targets(of: live)
      case .unset, .stored, .data, .reference, .links, .lazy: return nil
      }
      let found = try targets.map { ($0, try CycleFinder.context(of: $0, context)) }
      guard found.contains(where: { $0.1 != nil }) else { return nil }
      return Relation(storage: storage, slot: slot, change: change, targets: found)
    }
  }

  fileprivate static func targets(of live: _LiveValue) -> [RelationTarget] {
    func targets(_ collection: some MagicCollection) -> [RelationTarget] {
      // Saving a collection that can't be stored throws.
      ((try? collection.magicLinks) ?? []).map {
        RelationTarget(key: $0.key, end: .other(_LiveValue($0.object)))
      }
    }
    if let lazy = live.value as? any LazyValue {
      return lazy.box.state.live.map(Self.targets) ?? []
    }
    if let collection = live.value as? any MagicCollection { return targets(collection) }
    return live.value is any MagicObject ? [RelationTarget(key: .null, end: .other(live))] : []
  }

  /// Returns the context of a target, or nil if the target references no other objects or belongs
  /// to the owner's fetch.
  private static func context(
    of target: RelationTarget, _ owner: FetchContext
  ) throws(WeakObjectReference.Released) -> FetchContext? {
    switch target.end {
    case .fetched: return nil
    case .other(let live): return live.address?.context
    case .weakReference(let weakReference): return try owner.context(of: weakReference).context
    }
  }

  private mutating func visit(_ context: FetchContext) -> Int {
    var relations: [Relation] = []
    for storage in context.group.holders {
      let type = ObjectIdentifier(storage.shape.type)
      for (slot, property) in storage.shape.properties.enumerated()
      where context.group.isHolding(property) {
        if let properties, !properties.contains(PropertyKey(type: type, slot: slot)) { continue }
        if let relation = CycleFinder.relation(storage, slot, context) {
          relations.append(relation)
        }
      }
    }
    let index = visits.count
    indexes[ObjectIdentifier(context.group)] = index
    visits.append(
      Visit(
        context: context, relations: relations,
        unvisited: relations.flatMap { $0.targets.compactMap(\.context) }, lowest: index))
    return index
  }

  /// Visits all groups that can be reached from one, and finds their strongly connected components.
  private mutating func search(from start: FetchContext) {
    guard indexes[ObjectIdentifier(start.group)] == nil else { return }
    var path = [visit(start)]
    // The visits with unknown components.
    var open = path
    while let current = path.last {
      if let next = visits[current].unvisited.popLast() {
        if let known = indexes[ObjectIdentifier(next.group)] {
          if known == current { visits[current].referencesItself = true }
          if visits[known].component == nil {
            visits[current].lowest = min(visits[current].lowest, known)
          }
        } else {
          let index = visit(next)
          path.append(index)
          open.append(index)
        }
        continue
      }
      path.removeLast()
      if let parent = path.last {
        visits[parent].lowest = min(visits[parent].lowest, visits[current].lowest)
      }
      guard visits[current].lowest == current else { continue }
      var component: [Int] = []
      while let member = open.popLast() {
        visits[member].component = components.count
        component.append(member)
        if member == current { break }
      }
      components.append(component)
    }
  }

  /// Creates the cycles, makes references within a cycle weak, and makes references to other groups
  /// strong.
  ///
  /// - Returns: The cycles that were replaced. The caller must release them only after the search
  ///   lock is unlocked, because releasing an object can run user code.
  private func updateCycles() -> [ReferenceCycle] {
    var released: [ReferenceCycle] = []
    let cycles = components.map { members in
      members.count > 1 || visits[members[0]].referencesItself
        ? ReferenceCycle(members.map { visits[$0].context.group }) : nil
    }
    for visit in visits {
      let cycle = visit.component.flatMap { cycles[$0] }
      guard cycle != nil || visit.context.cycle != nil else { continue }
      visit.context.group.register(visit.context)
      if let former = visit.context.hold(cycle) { released.append(former) }
      visit.context.group.join(cycle)
    }
    for visit in visits {
      for relation in visit.relations where !relation.isLazy {
        rewrite(relation, of: visit, cycles)
      }
    }
    return released
  }

  private func rewrite(_ relation: Relation, of owner: Visit, _ cycles: [ReferenceCycle?]) {
    let cycle = owner.component.flatMap { cycles[$0] }
    var isChanged = false
    let targets = relation.targets.map { target, context -> RelationTarget in
      guard let context, let index = indexes[ObjectIdentifier(context.group)] else { return target }
      let isMember = cycle != nil && visits[index].component == owner.component
      let end: RelationTarget.End? =
        switch target.end {
        case .other(let live) where isMember: weakReference(live, context.group)
        case .weakReference(let weakReference) where !isMember:
          owner.context.live(of: weakReference)
        case .fetched, .other, .weakReference: nil
        }
      guard let end else { return target }
      isChanged = true
      return RelationTarget(key: target.key, end: end)
    }
    guard isChanged else { return }
    relation.storage.replace(relation.slot, .targets(targets), since: relation.change)
  }

  private func weakReference(_ live: _LiveValue, _ group: ObjectGroup) -> RelationTarget.End? {
    guard let storage = live.address?.storage, let row = group.row(of: storage) else { return nil }
    if storage.shape.isClass { group.register(live.value as AnyObject, at: row) }
    return .weakReference(WeakObjectReference(group, row: row))
  }
}

extension ReferenceCycle {
  /// Returns whether a value references an object of the cycle.
  func isReferenced(by live: _LiveValue) -> Bool {
    CycleFinder.targets(of: live).contains { target in
      guard case .other(let object) = target.end else { return false }
      return object.address?.context?.cycle === self
    }
  }
}

extension FetchContext {
  /// Returns a strong reference to the object that a weak reference references, or nil if the weak
  /// reference was replaced in the meantime.
  fileprivate func live(of weakReference: WeakObjectReference) -> RelationTarget.End? {
    guard let (context, row) = try? context(of: weakReference) else { return nil }
    return (try? context.live(at: row)).map { .other($0) }
  }
}

extension _LiveValue {
  /// The storage, slot and context of an object's first property, or nil if the object was neither
  /// saved nor fetched.
  fileprivate var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    func address(_ object: some MagicObject) -> _MagicCell? {
      PropertyCollector.firstCell(of: object)
    }
    return (value as? any MagicObject).flatMap { address($0)?.address }
  }
}

extension RelationTarget {
  /// Returns the object's z_index in a store, or nil if the object isn't in the store.
  func zIndex(in store: StoreIdentity) -> Int64? {
    switch end {
    case .fetched(let zIndex): return zIndex
    case .other(let live): return (live.value as? any MagicObject)?.zIndex(in: store)
    case .weakReference(let weakReference):
      guard let (group, row) = try? weakReference.place() else { return nil }
      return group.storages[row].zIndex(in: store)
    }
  }
}
