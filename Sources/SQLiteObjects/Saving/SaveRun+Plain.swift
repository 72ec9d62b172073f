import SQLiteCore
import SQLiteMapping

// Objects all of whose properties are plain values.
extension SaveRun {
  /// The most new objects that one statement inserts. It updates the table's counter once, whose cost
  /// is half that of a row (benchmark `insert`).
  private static var batch: Int { 16 }

  /// Writes the objects in their order.
  mutating func runPlain() throws {
    try reserveKeys()
    var pending: [Int] = []
    for index in nodes.indices {
      if nodes[index].storage.zIndex(in: store.identity) == nil, try mayBatch(nodes[index].plan) {
        if let first = pending.first, nodes[first].plan !== nodes[index].plan {
          try insertEach(&pending)
        }
        pending.append(index)
        if pending.count == SaveRun.batch { try insertBatch(&pending) }
      } else {
        try insertEach(&pending)
        try write(index)
      }
    }
    try insertEach(&pending)
  }

  /// Says whether new objects of a type may be inserted together: if their keys are known before, and
  /// no trigger can skip a row or insert others.
  private mutating func mayBatch(_ plan: ObjectPlan) throws -> Bool {
    let type = ObjectIdentifier(plan.type)
    if let known = batches[type] { return known.isAllowed }
    var batch = Batch()
    let isKeyKnown = plan.primary == nil || plan.counting != nil
    // 999 parameters are what each SQLite takes.
    let fits = !plan.columns.isEmpty && (plan.columns.count + 1) * SaveRun.batch <= 999
    if isKeyKnown, fits, nodes.count >= SaveRun.batch {
      batch.isAllowed =
        try connection.firstRow(
          "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = \(plan.table) COLLATE NOCASE"
        ) == nil
    }
    batches[type] = batch
    return batch.isAllowed
  }

  private mutating func insertEach(_ pending: inout [Int]) throws {
    for index in pending { try insertPlain(index) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Inserts as many objects as one statement takes.
  private mutating func insertBatch(_ pending: inout [Int]) throws {
    let plan = nodes[pending[0]].plan
    let type = ObjectIdentifier(plan.type)
    var batch = batches[type] ?? Batch()
    let statement =
      try batch.statement
      ?? InsertStatement(
        plan, hasKey: true, plan.columns, rows: SaveRun.batch, insertsOnly: insertsOnly, connection)
    batch.statement = statement
    // What this batch has given already, and the table does not know.
    var highest: Int64 = 0
    for (row, index) in pending.enumerated() {
      let forms = nodes[index].forms
      let key: Int64
      if let own = plan.key(in: forms) ?? reservedKey(index) {
        key = own
      } else {
        let last = try batch.lastKey ?? max(lastKey(of: plan), highest)
        // The last key of all: SQLite reports what it does about it.
        guard last < .max else {
          batches[type]?.isAllowed = false
          return try insertEach(&pending)
        }
        key = last + 1
        batch.lastKey = key
      }
      highest = max(highest, key)
      if let last = batch.lastKey { batch.lastKey = max(last, key) }
      isNew[index] = true
      results[index] = SaveResult(zIndex: key)
      try statement.bind(forms, key: key, row: row)
    }
    batches[type] = batch
    let count: Int
    do {
      count = try statement.run()
    } catch let error as SQLiteError where insertsOnly && error.code.primary == .constraint {
      // One by one, to tell which of them is there.
      batches[type]?.isAllowed = false
      return try insertEach(&pending)
    }
    guard count == pending.count else {
      // The table's own constraints let rows be skipped.
      throw MagicError.notSaved(type: plan.typeName)
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Inserts one object.
  mutating func insertPlain(_ index: Int) throws {
    isNew[index] = true
    if nodes[index].expected != nil { try refuseUnknownRow(nodes[index]) }
    let plan = nodes[index].plan
    let forms = nodes[index].forms
    let key = plan.key(in: forms) ?? reservedKey(index)
    let insertion = try insertion(plan, hasKey: key != nil, plan.columns)
    try insertion.bind(forms, key: key)
    // What SQLite counts up it tells no batch.
    batches[ObjectIdentifier(plan.type)]?.lastKey = nil
    results[index] = SaveResult(zIndex: try run(insertion, key, nodes[index]))
  }

  /// What is known of inserting many objects of a type.
  struct Batch {
    var isAllowed = false
    var statement: InsertStatement?
    /// The highest key that the table has or had, once it was asked for.
    var lastKey: Int64?
  }
}

extension ObjectPlan {
  /// The key that an object brings with it: its Int primary value.
  func key(in forms: [CellContent.Form]) -> Int64? {
    guard let counting, case .stored(.integer(let key)) = forms[counting] else { return nil }
    return key
  }
}
