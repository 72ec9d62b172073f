import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// What saving gave an object: handed to it once the transaction has committed.
struct SaveResult: Sendable {
  let zIndex: Int64
  /// What the store made of properties: a number that it counted up, the id of an asset.
  var settled: [(slot: Int, form: CellContent.Form)] = []
  /// Links that were written.
  var links: [KnownLinks] = []
}

/// Writes a request, inside one transaction.
struct SaveRun {
  let store: MagicData
  let connection: Connection
  var nodes: [SaveNode]
  let roots: Set<Int>
  let isPlain: Bool
  /// Whether nothing that is in the store may get the values of an object that is not.
  let insertsOnly: Bool
  var results: [SaveResult?]
  var isNew: [Bool]
  /// The statement that inserted the last object of each type: most objects of a type need the same.
  var insertions: [ObjectIdentifier: InsertStatement] = [:]
  /// What is known of inserting many plain objects of a type.
  var batches: [ObjectIdentifier: Batch] = [:]
  /// The statement that wrote the last changes.
  var lastUpdate: UpdateStatement?
  /// Assets of the object that is being inserted.
  var pendingAssets: [(slot: Int, form: CellContent.Form)] = []
  /// The keys that new objects get which others refer to, or which refer to others; empty if none does.
  var reserved: [Int64?] = []
  /// References to objects that were not written yet, with the keys that they were to have.
  var early: [(node: Int, slot: Int, target: Int, key: Int64)] = []

  init(_ store: MagicData, _ connection: Connection, _ request: SaveRequest) {
    self.store = store
    self.connection = connection
    nodes = request.nodes
    roots = Set(request.roots)
    isPlain = request.isPlain
    insertsOnly = request.insertsOnly
    results = Array(repeating: nil, count: nodes.count)
    isNew = Array(repeating: false, count: nodes.count)
  }

  /// Writes all objects: what is led to first, as far as there are no cycles. Keys are given in the order
  /// in which the objects were met.
  mutating func run() throws -> [SaveResult] {
    if isPlain {
      try runPlain()
      return results.compactMap { $0 }
    }
    let copies = try findCopies()
    try reserveKeys()
    for index in order { try write(index) }
    for (node, slot, target, key) in early {
      // One that had the primary value already kept its key; one that was removed got a new one.
      guard let owner = results[node], let other = results[target], other.zIndex != key else {
        continue
      }
      let plan = nodes[node].plan
      try connection.executeChange(
        "UPDATE \(identifier: plan.table) SET \(identifier: plan.properties[slot].name) = \(other.zIndex) WHERE \(identifier: plan.key) = \(owner.zIndex)"
      )
    }
    var links = LinkRun(store, connection, nodes, results, isNew)
    results = try links.run()
    // From now on the objects' own relations are what these lead to.
    for (index, slot) in copies { results[index]?.settled.append((slot, .lazy)) }
    return results.compactMap { $0 }
  }

  /// Looks up what objects have in the store that was assigned to properties, before anything is written:
  /// an assignment means what was there before the save, also if that is overwritten by it.
  ///
  /// - Returns: The properties that will have relations of their own instead of others'.
  private mutating func findCopies() throws -> [(node: Int, slot: Int)] {
    var relations: [(node: Int, slot: Int)] = []
    for index in nodes.indices {
      for slot in nodes[index].copies
      where nodes[index].isChanged(slot)
        || nodes[index].storage.zIndex(in: store.identity) == nil
      {
        switch nodes[index].values[slot] {
        case .asset(.stored(let handle, let pathExtension)):
          let source = try handle.source(in: connection)
          nodes[index].values[slot] = .asset(
            source.map { .found($0, pathExtension: pathExtension) } ?? .empty)
        case .copy(let source):
          nodes[index].values[slot] = try copy(
            of: source, isLinked: nodes[index].plan.properties[slot].isLinked)
          relations.append((index, slot))
        case .value, .object, .links, .asset, .kept, .untouched, .missing: break
        }
      }
    }
    return relations
  }

  /// What a lazy relation of another object leads to.
  private func copy(of source: LazySource, isLinked: Bool) throws -> SaveValue {
    guard source.store.identity == store.identity else {
      throw MagicError.notSaved(type: source.plan.typeName)
    }
    guard isLinked else {
      return .value(try source.reference(connection).map { .integer($0) } ?? .null)
    }
    guard let table = try source.table(connection) else {
      throw MagicError.notSaved(type: source.plan.typeName)
    }
    let links = try connection.links(table, of: [source.zIndex])
    return .links(links.map { ($0.place, .stored($0.target)) }, isSet: true)
  }

  /// The objects in the order in which they were met, each after those that it refers to, as far as
  /// there are no cycles.
  private var order: [Int] {
    var order: [Int] = []
    order.reserveCapacity(nodes.count)
    var isMet = Array(repeating: false, count: nodes.count)
    for start in nodes.indices where !isMet[start] {
      // By a stack of our own: a chain may be as long as memory is.
      var path = [(node: start, references: nodes[start].references[...])]
      isMet[start] = true
      while let (node, references) = path.last {
        if let next = references.first {
          path[path.count - 1].references.removeFirst()
          guard !isMet[next] else { continue }
          isMet[next] = true
          path.append((next, nodes[next].references[...]))
        } else {
          order.append(node)
          path.removeLast()
        }
      }
    }
    return order
  }

  /// An Int primary value is what the store knows the object by, and what others lead to.
  private func refuseOtherKey(_ node: SaveNode, _ zIndex: Int64) throws {
    guard node.key != zIndex, let counting = node.plan.counting else { return }
    throw MagicError.unstorableValue(
      type: node.plan.typeName, property: node.plan.properties[counting].name,
      reason: "the object is in the store under another number, which does not change")
  }

  mutating func write(_ index: Int) throws {
    // Not the whole node, whose every part would be retained.
    if let zIndex = nodes[index].storage.zIndex(in: store.identity) {
      if insertsOnly, roots.contains(index) {
        guard try !isPresent(nodes[index].plan, zIndex) else { throw alreadySaved(nodes[index]) }
      } else {
        if let counting = nodes[index].plan.counting, nodes[index].snapshot.isChanged(counting) {
          try refuseOtherKey(nodes[index], zIndex)
        }
        if try update(index, zIndex) { return }
      }
    }
    // Unknown, or removed meanwhile: then it is a new one.
    if nodes[index].plan.isPlain { try insertPlain(index) } else { try insert(index) }
  }
}
