import SQLiteCore

/// Objects to be saved with all that they lead to, each once: taken where the objects live.
struct SaveRequest: Sendable {
  var nodes: [SaveNode]
  let roots: [Int]
  /// The types of the objects.
  let plans: [ObjectPlan]
  /// Whether nothing that is in the store may get the values of an object that is not.
  let insertsOnly: Bool
  /// Of which content of the store the objects are.
  let generation: Int

  /// Takes the values of objects.
  ///
  /// - Parameters:
  ///   - objects: What was asked to be saved.
  ///   - store: Where it shall be saved.
  ///   - isUnchanged: Whether the objects' rows must be as they were.
  ///   - insertsOnly: Whether the objects must be new in the store.
  init<Object: MagicObject>(
    _ objects: some Sequence<Object>, for store: MagicData, ifUnchanged isUnchanged: Bool = false,
    insertsOnly: Bool = false
  ) throws {
    self.insertsOnly = insertsOnly
    generation = store.content.current
    var collector = SaveCollector(store, capacity: objects.underestimatedCount)
    roots = try objects.map { try collector.add($0) }
    nodes = try collector.finish()
    plans = collector.plans
    if isUnchanged {
      for root in roots { nodes[root].expected = try collector.expectedRow(root) }
    }
  }

  /// Says whether none of the objects leads to others or has assets.
  var isPlain: Bool { plans.allSatisfy(\.isPlain) }
}
