extension SaveGraph.Walk {
  /// Finds the reference cycles that changed relations of the objects may have closed or opened,
  /// and makes references within a cycle weak and all others strong.
  mutating func joinCycles() {
    if kinds.allSatisfy(\.plan.relations.isEmpty) { return }
    // Fetched objects are held as a group. Without any of them, only some relations can be part of
    // a cycle.
    let isFetched = nodes.indices.contains {
      !(nodes[$0].context?.group.isCreatedByProgram ?? true)
    }
    let cycleProperties = isFetched ? nil : kinds.map(\.plan).cycleProperties
    let candidates = kinds.map { kind in
      kind.plan.relations.filter {
        cycleProperties?.contains(PropertyKey(type: kind.id, slot: $0)) ?? true
      }
    }
    var changed: [(ObjectStorage, FetchContext, slots: [Int])] = []
    for index in nodes.indices where !nodes[index].isClean {
      guard !candidates[nodes[index].kind].isEmpty, let context = nodes[index].context else {
        continue
      }
      let isInCycle = context.cycle != nil
      let slots = candidates[nodes[index].kind].filter {
        context.group.isHolding(nodes[index].plan.properties[$0])
          && (!nodes[index].snapshot.isKnown || isChanged($0, of: index))
          && (isInCycle || references($0, from: index))
      }
      if !slots.isEmpty { changed.append((nodes[index].storage, context, slots)) }
    }
    if !changed.isEmpty { CycleFinder.updateCycles(changed, through: cycleProperties) }
    if !lazies.isEmpty { markLaziesInCycles() }
  }

  /// Determines the lazy values that reference an object of the same cycle. This reads the values,
  /// so the thread that writes the graph can't do it.
  private mutating func markLaziesInCycles() {
    for node in nodes {
      guard !node.lazies.isEmpty, let cycle = node.context?.cycle else { continue }
      for index in node.lazies {
        guard let live = lazies[index].state.live else { continue }
        lazies[index].isInCycle = cycle.isReferenced(by: live)
      }
    }
  }

  /// Returns whether a relation of a node references objects of the graph.
  private func references(_ slot: Int, from index: Int) -> Bool {
    deferred[nodes[index].deferred].contains { entry in
      guard entry.slot == slot else { return false }
      switch entry.value {
      case .object(.node): return true
      case .links(let range, _): return !range.isEmpty
      default: return false
      }
    }
  }
}

extension [ObjectPlan] {
  /// The relations through which objects of the graph's types can reference each other in a cycle.
  fileprivate var cycleProperties: Set<PropertyKey> {
    /// The types that each type references, directly or indirectly.
    var reached: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
    let known = Set(map(\.id))
    for plan in self {
      reached[plan.id] = known.intersection(plan.relations.compactMap { plan.target(of: $0) })
    }
    for middle in known {
      for start in known where reached[start]?.contains(middle) ?? false {
        let further = reached[middle] ?? []
        reached[start]?.formUnion(further)
      }
    }
    return Set(
      flatMap { plan in
        plan.relations.filter { slot in
          plan.target(of: slot).flatMap { reached[$0] }?.contains(plan.id) ?? false
        }.map { PropertyKey(type: plan.id, slot: $0) }
      })
  }
}

extension ObjectPlan {
  /// Returns the type of the objects that a property references, or nil if the property isn't a
  /// relation.
  fileprivate func target(of slot: Int) -> ObjectIdentifier? {
    properties[slot].role.target.map { ObjectIdentifier($0) }
  }
}
