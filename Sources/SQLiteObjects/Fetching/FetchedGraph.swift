import SQLiteCore
import SQLiteRelations

/// The rows of one type that a fetch brought.
struct FetchedRows: Sendable {
  let plan: ObjectPlan
  /// What was made of the rows, row after row; each value was checked when it was read.
  private(set) var storages: [ObjectStorage] = []
  /// The number of each row, by its z_index.
  private(set) var numbers = RowNumbers()
  /// How many rows the query itself found; they come first, in its order.
  var foundCount = 0
  /// The links of properties.
  var links: [Int: FetchedLinks] = [:]

  init(_ plan: ObjectPlan) {
    self.plan = plan
  }

  /// The z_index values that the query itself found, in its order.
  var found: ArraySlice<Int64> { numbers.keys.prefix(foundCount) }

  /// Takes the row that a statement stands on, the key first, unless it is there already.
  ///
  /// - Returns: The row's z_index.
  mutating func append(_ row: borrowing Statement, in magic: MagicData) throws -> Int64 {
    let zIndex = row.integer(at: 0)
    if numbers.append(zIndex) { storages.append(try plan.storage(of: row, zIndex, in: magic)) }
    return zIndex
  }
}

/// The links of one property that a fetch brought, owner by owner.
struct FetchedLinks: Sendable {
  private var targets: [Int64] = []
  private var keys: [Value] = []
  private var owners = RowNumbers()
  /// Where the links of each owner begin.
  private var starts: [Int] = []

  /// What the links of an owner lead to.
  subscript(owner: Int64) -> LinkTargets {
    guard let number = owners[owner] else { return .none }
    let end = number + 1 < starts.count ? starts[number + 1] : targets.count
    let range = starts[number]..<end
    return LinkTargets(targets: targets[range], keys: keys.isEmpty ? [] : keys[range])
  }

  /// Reads links, owner by owner.
  ///
  /// - Parameters:
  ///   - relation: The links.
  ///   - wanted: The owners, or nil for all.
  ///   - check: Throws if a key of a dictionary is none of its type.
  /// - Returns: What the links lead to.
  mutating func append(
    _ relation: ObjectRelation, of wanted: [Int64]?, _ connection: Connection,
    checking check: (_ key: Value, _ owner: Int64) throws -> Void
  ) throws -> ArraySlice<Int64> {
    let first = targets.count
    let hasKeys = relation.table?.arrangement == .dictionary
    var last: (owner: Int64, isNew: Bool)?
    let query = relation.keys.query(fromEach: wanted, hasPlaces: hasKeys)
    try connection.forEachRow(query) { row in
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
  /// The rows of each type.
  var tables: [FetchedRows] = []
  /// Where the rows of a type are in ``tables``.
  private(set) var indexes: [ObjectIdentifier: Int] = [:]

  /// Where the rows of a type are in ``tables``, which has none at first.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if there are too many types.
  mutating func index(of plan: ObjectPlan) throws -> Int {
    let type = ObjectIdentifier(plan.type)
    if let index = indexes[type] { return index }
    guard tables.count < CellIndex.limit else {
      throw MagicError.unsuitableType(
        type: plan.typeName, reason: "a fetch leads to more than \(CellIndex.limit) types")
    }
    indexes[type] = tables.count
    tables.append(FetchedRows(plan))
    return tables.count - 1
  }

  /// The z_index values of a type that the query itself found, in its order.
  func found(_ type: any MagicObject.Type) -> ArraySlice<Int64> {
    indexes[ObjectIdentifier(type)].map { tables[$0].found } ?? []
  }
}
