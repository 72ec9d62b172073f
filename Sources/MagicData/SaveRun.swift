import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// What saving gave an object: handed to it once the transaction has committed.
struct SaveResult: Sendable {
  let zIndex: Int64
  /// Values that the store made: a number that it counted up, the id of an asset.
  var settled: [(slot: Int, value: Value)] = []
  /// Links that were written.
  var links: [KnownLinks] = []
}

/// Writes a request, inside one transaction.
struct SaveRun {
  let store: MagicData
  let connection: Connection
  let nodes: [SaveNode]
  let roots: Set<Int>
  let isPlain: Bool
  var results: [SaveResult?]
  var isNew: [Bool]
  /// The statement that inserted the last object of each type: most objects of a type need the same.
  var insertions: [ObjectIdentifier: InsertStatement] = [:]
  /// What is known of inserting many plain objects of a type.
  var batches: [ObjectIdentifier: Batch] = [:]
  /// The statement that wrote the last changes.
  var lastUpdate: UpdateStatement?
  /// Assets of the object that is being inserted.
  var pendingAssets: [(slot: Int, value: Value)] = []
  /// References to objects that had no z_index yet when the row was written.
  var late: [(node: Int, slot: Int, target: Int)] = []

  init(_ store: MagicData, _ connection: Connection, _ request: SaveRequest) {
    self.store = store
    self.connection = connection
    nodes = request.nodes
    roots = Set(request.roots)
    isPlain = request.isPlain
    results = Array(repeating: nil, count: nodes.count)
    isNew = Array(repeating: false, count: nodes.count)
  }

  /// Writes all objects: what is led to first, as far as there are no cycles.
  mutating func run() throws -> [SaveResult] {
    if isPlain {
      try runPlain()
      return results.compactMap { $0 }
    }
    for index in order { try write(index) }
    for (node, slot, target) in late {
      guard let owner = results[node], let other = results[target] else { continue }
      let plan = nodes[node].plan
      try connection.executeChange(
        "UPDATE \(identifier: plan.table) SET \(identifier: plan.properties[slot].name) = \(other.zIndex) WHERE \(identifier: plan.key) = \(owner.zIndex)"
      )
    }
    var links = LinkRun(store, connection, nodes, results, isNew)
    return try links.run().compactMap { $0 }
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

  mutating func write(_ index: Int) throws {
    // Not the whole node, whose every part would be retained.
    if let zIndex = nodes[index].storage.zIndex(in: store.identity) {
      if try update(index, zIndex) { return }
    }
    // Unknown, or removed meanwhile: then it is a new one.
    if nodes[index].plan.isPlain { try insertPlain(index) } else { try insert(index) }
  }
}
