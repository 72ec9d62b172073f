import SQLiteCore
import SQLiteRelations

/// The rows of one type that a fetch brought.
struct FetchedRows: Sendable {
  /// What was made of the rows, row after row; each value was checked when it was read.
  private(set) var storages: [ObjectStorage] = []
  /// Where each row is, by its z_index.
  private(set) var places = RowPlaces()
  /// How many rows the query itself found; they come first, in its order.
  var foundCount = 0

  /// The z_index values that the query itself found, in its order.
  var found: ArraySlice<Int64> { places.keys.prefix(foundCount) }

  /// Takes the row that a statement stands on, the key first, unless it is there already.
  ///
  /// - Returns: The row's z_index.
  mutating func append(
    _ row: borrowing Statement, of plan: ObjectPlan, in magic: MagicData
  ) throws -> Int64 {
    let zIndex = row.integer(at: 0)
    if places.append(zIndex) { storages.append(try plan.storage(of: row, zIndex, in: magic)) }
    return zIndex
  }
}

/// The links of one property that a fetch brought, owner by owner.
struct FetchedLinks: Sendable {
  private var targets: [Int64] = []
  private var keys: [Value] = []
  private var owners = RowPlaces()
  /// Where the links of each owner begin.
  private var starts: [Int] = []

  /// What the links of an owner lead to.
  subscript(owner: Int64) -> LinkTargets {
    guard let place = owners[owner] else { return .none }
    let end = place + 1 < starts.count ? starts[place + 1] : targets.count
    let range = starts[place]..<end
    return LinkTargets(targets: targets[range], keys: keys.isEmpty ? [] : keys[range])
  }

  /// Reads links, owner by owner.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - wanted: The owners, or nil for all.
  ///   - check: Throws if a key of a dictionary is none of its type.
  /// - Returns: What the links lead to.
  mutating func append(
    _ table: LinkTable, of wanted: [Int64]?, _ connection: Connection,
    checking check: (_ key: Value, _ owner: Int64) throws -> Void
  ) throws -> ArraySlice<Int64> {
    let first = targets.count
    let hasKeys = table.arrangement == .dictionary
    var last: (owner: Int64, isNew: Bool)?
    try connection.forEachRow(table.targetQuery(of: wanted)) { row in
      let owner = row.integer(at: 0)
      if owner != last?.owner {
        last = (owner, owners.append(owner))
        if last?.isNew == true { starts.append(targets.count) }
      }
      // Those that are known stay as they are.
      guard last?.isNew == true else { return }
      targets.append(row.integer(at: 1))
      if hasKeys {
        let key = try row.value(at: 2)
        try check(key, owner)
        keys.append(key)
      }
    }
    return targets[first...]
  }
}

/// A property of a type, as a key.
struct PropertyKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let slot: Int
}

/// Everything that one fetch brought, as of one snapshot.
struct FetchedGraph: Sendable {
  var plans: [ObjectIdentifier: ObjectPlan] = [:]
  var rows: [ObjectIdentifier: FetchedRows] = [:]
  var links: [PropertyKey: FetchedLinks] = [:]
}
