import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// Reads objects and all that they lead to: one query for each type and each relation at each depth,
/// whatever the number of objects.
final class GraphLoader {
  private let store: MagicData
  private let connection: Connection
  private(set) var graph = FetchedGraph()
  /// Types whose tables are known to exist.
  private var hasTable: [String: Bool] = [:]

  init(_ store: MagicData, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  /// Reads the objects that a query finds, and what they lead to.
  ///
  /// - Parameter tail: The SQL behind `FROM`, in the table's own order.
  func load<Object: MagicObject>(_ type: Object.Type, tail: SQL) throws {
    let plan = try store.plan(type)
    graph.plans[ObjectIdentifier(type)] = plan
    graph.rows[ObjectIdentifier(type)] = FetchedRows()
    guard try exists(plan.table) else { return }
    let fresh = try read(plan, tail)
    graph.rows[ObjectIdentifier(type)]?.order = fresh
    try follow(plan, fresh)
  }

  /// Reads objects by their z_index, and what they lead to.
  func load(_ type: any MagicObject.Type, _ zIndexes: [Int64]) throws {
    var pending: [(any MagicObject.Type, [Int64])] = [(type, zIndexes)]
    while let (type, wanted) = pending.popLast() {
      let key = ObjectIdentifier(type)
      let plan = try store.plan(type)
      graph.plans[key] = plan
      let known = graph.rows[key, default: FetchedRows()].places
      let missing = Set(wanted).filter { known[$0] == nil }
      guard !missing.isEmpty, try exists(plan.table) else { continue }
      let fresh = try read(plan, "WHERE \(identifier: plan.key) IN \(missing)")
      pending += try targets(plan, fresh)
    }
  }

  private func follow(_ plan: ObjectPlan, _ fresh: [Int64]) throws {
    for (type, zIndexes) in try targets(plan, fresh) { try load(type, zIndexes) }
  }

  /// Reads rows, and returns the z_index of each, in the order of the query.
  private func read(_ plan: ObjectPlan, _ tail: SQL) throws -> [Int64] {
    let present = try connection.columnNames(of: plan.table)
    let columns = plan.columns.map { slot -> SQL in
      let name = plan.properties[slot].name
      // A property that the table has not got yet: an older program made it, and only read since.
      return present.contains(asciiLowercased(name)) ? "\(identifier: name)" : "NULL"
    }
    let key = ObjectIdentifier(plan.type)
    var rows = graph.rows[key] ?? FetchedRows()
    // Taken out while it grows, so that its arrays are not copied.
    graph.rows[key] = nil
    defer { graph.rows[key] = rows }
    var fresh: [Int64] = []
    let list = SQL(joining: ["\(identifier: plan.key)"] + columns, separator: ", ")
    try connection.forEachRow("SELECT \(list) FROM \(identifier: plan.table) \(tail)") { row in
      let zIndex = row.integer(at: 0)
      fresh.append(zIndex)
      guard rows.places[zIndex] == nil else { return }
      rows.places[zIndex] = rows.places.count
      for column in 0..<columns.count { rows.values.append(try row.value(at: column + 1)) }
    }
    return fresh
  }

  /// What eager relations of freshly read objects lead to.
  private func targets(
    _ plan: ObjectPlan, _ fresh: [Int64]
  ) throws -> [(any MagicObject.Type, [Int64])] {
    var found: [(any MagicObject.Type, [Int64])] = []
    for (slot, property) in plan.properties.enumerated() where !property.role.isLazy {
      switch property.role.kind {
      case .object(let type):
        guard let offset = plan.columns.firstIndex(of: slot),
          let rows = graph.rows[ObjectIdentifier(plan.type)]
        else { continue }
        let zIndexes = fresh.compactMap { zIndex -> Int64? in
          guard let place = rows.places[zIndex],
            case .integer(let target) = rows.values[place * plan.columns.count + offset]
          else { return nil }
          return target
        }
        found.append((type, zIndexes))
      case .links(_, let type):
        guard let table = try plan.linkTable(slot, store.plan), try exists(table.name) else {
          continue
        }
        let links = try connection.links(table, of: fresh)
        let key = PropertyKey(type: ObjectIdentifier(plan.type), slot: slot)
        for link in links {
          graph.links[key, default: FetchedLinks()].byOwner[link.owner, default: []].append(link)
        }
        found.append((type, links.map(\.target)))
      case .column, .asset, .reverse: continue
      }
    }
    return found
  }

  private func exists(_ table: String) throws -> Bool {
    if let known = hasTable[table] { return known }
    let exists = try !connection.columnNames(of: table).isEmpty
    hasTable[table] = exists
    return exists
  }
}
