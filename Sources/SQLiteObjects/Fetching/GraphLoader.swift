import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// A loader that reads objects and all objects that are reachable from them through eager
/// relations. At each depth, it runs one query for each type and one for the links of each
/// relation, whatever the number of objects.
final class GraphLoader {
  private let store: any ObjectStore
  private let content: StoreContent
  private let connection: Connection
  private(set) var graph = FetchedGraph()
  /// The objects that have been read, but whose relations haven't been followed yet.
  private var frontier: [Batch] = []

  /// Some objects of one type, identified by their z_index values.
  private struct Batch {
    let plan: ObjectPlan
    var zIndexes: [Int64]
    /// Whether the batch contains all objects of the type.
    var isWhole = false
  }

  init(_ store: any ObjectStore, _ connection: Connection) {
    self.store = store
    content = StoreContent(of: store)
    self.connection = connection
  }

  /// Reads the objects that a query selects, and their related objects.
  ///
  /// - Parameters:
  ///   - plan: The plan of the objects' type.
  ///   - source: The SQL after `FROM`.
  ///   - isWhole: Whether the query selects all objects of the type. Their links are then read
  ///     without a list of owners.
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if a related object doesn't exist, or
  ///   ``MagicError/unreadableValue(type:property:zIndex:reason:)`` if a key doesn't fit the key
  ///   type of its dictionary.
  func load(_ plan: ObjectPlan, from source: SQL, isWhole: Bool = false) throws {
    let table = try graph.index(of: plan.shape)
    guard let columns = try store.tables.columns(of: plan, connection) else { return }
    let fresh = try read(plan, table, columns, from: source)
    graph.tables[table].foundCount = fresh.count
    frontier.append(Batch(plan: plan, zIndexes: fresh, isWhole: isWhole))
    try follow()
  }

  /// Reads objects by their z_index, and their related objects. Objects that are already in the
  /// graph aren't read again.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them doesn't exist.
  func load(_ type: any MagicObject.Type, _ zIndexes: [Int64]) throws {
    try add(store.plan(type), zIndexes)
    try follow()
  }

  /// Reads the objects with these z_index values that aren't in the graph yet.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if one of them doesn't exist.
  private func add(_ plan: ObjectPlan, _ zIndexes: [Int64]) throws {
    let table = try graph.index(of: plan.shape)
    let missing = unknown(table, zIndexes)
    guard !missing.isEmpty else { return }
    var fresh: [Int64] = []
    if let columns = try store.tables.columns(of: plan, connection) {
      // The list is first in the join, so that SQLite doesn't copy it into a temporary table.
      fresh = try read(
        plan, table, columns,
        from:
          "\(missing) AS magicdata_wanted CROSS JOIN \(plan.quotedTable) ON \(SQL(unchecked: plan.qualifiedKey)) = magicdata_wanted.value"
      )
    }
    if fresh.count < missing.count {
      let lost = Set(missing).subtracting(fresh).min()
      throw MagicError.missingTarget(type: plan.typeName, zIndex: lost ?? 0)
    }
    frontier.append(Batch(plan: plan, zIndexes: fresh))
  }

  /// Returns the distinct z_index values that aren't in the graph yet.
  private func unknown(_ table: Int, _ zIndexes: [Int64]) -> [Int64] {
    let distinct = RowNumbers.distinct(zIndexes)
    let known = graph.tables[table].numbers
    if known.count == 0 { return distinct }
    return distinct.filter { known[$0] == nil }
  }

  /// Reads one level of related objects after the other until a level has no new objects.
  private func follow() throws {
    while !frontier.isEmpty {
      var wanted: [Batch] = []
      for batch in frontier where !batch.zIndexes.isEmpty && batch.plan.needsContext {
        for found in try targets(batch) {
          if let index = wanted.firstIndex(where: { $0.plan === found.plan }) {
            wanted[index].zIndexes += found.zIndexes
          } else {
            wanted.append(found)
          }
        }
      }
      frontier = []
      for batch in wanted { try add(batch.plan, batch.zIndexes) }
    }
  }

  /// Reads rows into the graph, and returns the z_index of each, in the order of the query. Rows
  /// that the graph already contains aren't added again.
  private func read(
    _ plan: ObjectPlan, _ index: Int, _ present: PresentColumns, from source: SQL
  ) throws -> [Int64] {
    let list = plan.qualifiedList { slot in
      // A table that an older version of the program created lacks a new property until the first
      // save.
      present.isAll || present.contains(plan.properties[slot].name)
    }
    // Swapped out while it grows, so that its arrays aren't copied.
    var rows = FetchedRows(plan.shape)
    swap(&rows, &graph.tables[index])
    defer { swap(&rows, &graph.tables[index]) }
    let before = rows.storages.count
    var fresh: [Int64] = []
    try connection.forEachRow("SELECT \(list) FROM \(source)") { row in
      let zIndex = row.integer(at: 0)
      fresh.append(zIndex)
      if rows.register(zIndex) { rows.append(try plan.storage(of: row, zIndex, in: content)) }
    }
    store.forgetFetched(rows.storages[before...], afterRollbackOn: connection)
    return fresh
  }

  /// Returns the targets of the eager relations of newly read objects, as a batch for each
  /// relation.
  private func targets(_ batch: Batch) throws -> [Batch] {
    let plan = batch.plan
    let index = try graph.index(of: plan.shape)
    var found: [Batch] = []
    for (slot, property) in plan.properties.enumerated() where !property.role.isLazy {
      switch property.role.kind {
      case .object(let type):
        found.append(Batch(plan: try store.plan(type), zIndexes: references(batch, index, slot)))
      case .links:
        let relation = try store.relation(of: plan.shape, slot)
        guard try relation.isStored(store.tables, connection) else { continue }
        var links = graph.tables[index].links.removeValue(forKey: slot) ?? FetchedLinks()
        let keys = plan.wrappers[slot].dictionary
        let targets = try append(
          relation, of: batch.isWhole ? nil : batch.zIndexes, to: &links
        ) { key, owner in
          do {
            try keys?.check(key)
          } catch {
            throw MagicError.unreadableValue(
              type: plan.typeName, property: property.name, zIndex: owner,
              reason: "one of its keys does not fit the dictionary's key type")
          }
        }
        graph.tables[index].links[slot] = links
        found.append(Batch(plan: relation.destination, zIndexes: Array(targets)))
      case .column, .asset, .reverse: continue
      }
    }
    return found
  }

  /// Reads links, grouped by owner.
  ///
  /// - Parameters:
  ///   - relation: The relation whose links are read.
  ///   - wanted: The owners, or nil for all.
  ///   - links: The links that have been read so far, to which the new ones are appended. Owners
  ///     that it already contains are skipped.
  ///   - check: Throws if a key doesn't fit the dictionary's key type.
  /// - Returns: The targets of the new links.
  private func append(
    _ relation: ObjectRelation, of wanted: [Int64]?, to links: inout FetchedLinks,
    checking check: (_ key: Value, _ owner: Int64) throws -> Void
  ) throws -> ArraySlice<Int64> {
    let first = links.count
    let hasKeys = relation.table?.arrangement == .dictionary
    var last: (owner: Int64, isNew: Bool)?
    let query = relation.keys.query(fromEach: wanted, hasPlaces: hasKeys)
    try connection.forEachRow(query) { row in
      let owner = row.integer(at: 0)
      if owner != last?.owner { last = (owner, links.register(owner)) }
      guard last?.isNew == true else { return }
      let key = hasKeys ? try row.value(at: 2) : nil
      if let key { try check(key, owner) }
      links.append(row.integer(at: 1), key: key)
    }
    return links.targets(from: first)
  }

  private func references(_ batch: Batch, _ index: Int, _ slot: Int) -> [Int64] {
    let rows = graph.tables[index]
    return batch.zIndexes.compactMap { zIndex in
      guard let number = rows.numbers[zIndex],
        case .reference(let target) = rows.storages[number][slot]
      else { return nil }
      return target
    }
  }
}
