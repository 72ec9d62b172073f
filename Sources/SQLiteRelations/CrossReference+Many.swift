public import SQLiteCore
public import SQLiteMapping

// Relations of many records.
extension Connection {
  /// Fetches the records on the right that are linked to many records on the left, without a
  /// statement per record.
  ///
  /// - Parameters:
  ///   - lefts: Stored records.
  ///   - reference: The relation between the two types of records.
  ///   - order: The order of each result, or nil for the order of the keys. It may use columns that
  ///     only the link table has.
  /// - Returns: For each of `lefts`, the linked records. An element is empty if no record is
  ///   linked, or if the link table doesn't exist. If the records are instances of a class, there
  ///   is one instance per key.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if one of `lefts`
  ///   has no primary key or one with several columns; `RowDecodingError` if a row cannot be
  ///   decoded as the type; `SchemaError` if rows of a record type are equal in properties that it
  ///   declares as unique; an error from the `encode(to:)` of one of `lefts`.
  @inlinable  // Benchmark `relations`.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [[Right]] {
    var all: [[Right]] = []
    // The linked records of one record, which are stored in `all` when those of the next record
    // begin.
    var found: [Right] = []
    var place = -1
    var instances: [Value: Right] = [:]
    let repeated = try forEachLinked(ofEach: lefts, through: reference, order) {
      all = Array(repeating: [], count: lefts.count)
      found = []
      place = -1
    } row: { reader, index, end in
      if index != place {
        if place >= 0 { all[place] = found }
        let count = min(found.count, 16)
        found = []
        found.reserveCapacity(count)
        place = index
      }
      if Right.self is AnyObject.Type {
        let end = try end()
        let instance = try instances[end] ?? reader.row(as: Right.self)
        instances[end] = instance
        found.append(instance)
      } else {
        found.append(try reader.row(as: Right.self))
      }
    }
    if place >= 0 { all[place] = found }
    for (index, first) in repeated { all[index] = all[first] }
    return all
  }

  /// Calls `row` with each row that is linked to the records, record by record.
  ///
  /// - Parameters:
  ///   - lefts: The records on the left.
  ///   - reference: The relation between the two types of records.
  ///   - order: The order of the rows of each record, or nil for the order of their keys.
  ///   - begin: Called before the first row, and again if the rows must be read a second time, in
  ///     sorted order.
  ///   - row: Receives the reader of a row, the index of its record in `lefts`, and a closure that
  ///     returns the row's key.
  /// - Returns: The index of each record in `lefts` that repeats an earlier one, with the index of
  ///   its first occurrence. `row` is called only for first occurrences.
  @usableFromInline func forEachLinked<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>, _ order: Ordering?,
    begin: () -> Void, row: (RowReader, Int, () throws -> Value) throws -> Void
  ) throws -> [(index: Int, first: Int)] {
    let keys = try keyValues(of: lefts)
    begin()
    if keys.isEmpty { return [] }
    // Rows are found by key value and not by sorting: only SQLite knows how values of a column sort
    // and which are equal.
    var first = [Value: Int](minimumCapacity: keys.count)
    var repeated: [(Int, Int)] = []
    for (index, key) in keys.enumerated() {
      if let first = first[key] { repeated.append((index, first)) } else { first[key] = index }
    }
    return try reading(reference, without: []) { links in
      func read(isSorted: Bool) throws -> Bool {
        try forEachRow(
          of: Right.self, links.relation, from: keys, first,
          orderedBy: isSorted ? .some(order?.sql) : nil, row)
      }
      // Without ORDER BY, an index of the links usually returns them in order. Checking the order
      // costs nothing.
      if order == nil, !links.isUnordered {
        if try read(isSorted: false) { return repeated }
        links.isUnordered = true
        begin()
      }
      _ = try read(isSorted: true)
      return repeated
    }
  }

  /// Calls `row` with each row that is linked to one of the records on the left.
  ///
  /// - Parameters:
  ///   - type: The type of the records on the right.
  ///   - relation: The relation from the records on the left to those on the right.
  ///   - keys: The keys of the records on the left.
  ///   - indexes: The index that `row` receives for each key.
  ///   - order: The order of the rows of each key, where `.some(nil)` means the order of their own
  ///     keys. If nil, the rows are not sorted.
  ///   - row: Receives the reader of a row, the index of its record, and a closure that returns the
  ///     row's key.
  /// - Returns: Whether the rows were in order. If `order` is nil, reading stops at the first row
  ///   that is not.
  private func forEachRow<Right: Record>(
    of type: Right.Type, _ relation: Relation, from keys: [Value], _ indexes: [Value: Int],
    orderedBy order: SQL??, _ row: (RowReader, Int, () throws -> Value) throws -> Void
  ) throws -> Bool {
    let source = relation.rows(from: .init(keys), orderedBy: order)
    var isDone = Array(repeating: false, count: keys.count)
    var start: Value?
    // Comparing integers avoids creating a `Value` for each row.
    var startInteger: Int64?
    var index: Int?
    var lastEnd = Int64.min
    var isInOrder = true
    try forEachRow(of: type, additional: relation.columns, from: source) { reader, additional in
      let integer = additional.integer(at: 0)
      if integer == nil || integer != startInteger {
        let next = try additional.value(at: 0)
        if next != start {
          if let index { isDone[index] = true }
          (start, startInteger, index, lastEnd) = (next, integer, indexes[next], .min)
          isInOrder = !(index.map { isDone[$0] } ?? false)
        }
      }
      guard let index else { return true }
      if order == nil {
        guard isInOrder, let end = additional.integer(at: 1), lastEnd <= end else {
          isInOrder = false
          return false
        }
        lastEnd = end
      }
      try row(reader, index) { try additional.value(at: 1) }
      return true
    }
    return isInOrder
  }
}
