public import SQLiteCore
public import SQLiteMapping

// What many records are linked to.
extension Connection {
  /// Reads the records that many on the left are linked to: one statement, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Returns: The linked records of each of `lefts`; of a class one instance for each key.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  @inlinable  // Benchmark `relations`.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [[Right]] {
    var all: [[Right]] = []
    // Those of one: they are put away when the next one's come.
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

  /// Lends the rows that many records are linked to, record by record, each with the index of its record in
  /// `lefts` and with its key.
  ///
  /// - Parameters:
  ///   - lefts: The records.
  ///   - reference: The links.
  ///   - order: The order of the rows of each, or nil for that of their keys.
  ///   - begin: Called before the first row, and once more if reading begins anew.
  ///   - row: Takes a row.
  /// - Returns: The indexes of records that occur again, each with the index of which it had the rows.
  @usableFromInline func forEachLinked<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>, _ order: Ordering?,
    begin: () -> Void, row: (RowReader, Int, () throws -> Value) throws -> Void
  ) throws -> [(index: Int, first: Int)] {
    let keys = try keyValues(of: lefts)
    begin()
    if keys.isEmpty { return [] }
    // By the values themselves: only SQLite knows how those of a column sort, and which are equal.
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
      // An index of the links has their order, which costs nothing to look for.
      if order == nil, !links.isUnordered {
        if try read(isSorted: false) { return repeated }
        links.isUnordered = true
        begin()
      }
      _ = try read(isSorted: true)
      return repeated
    }
  }

  /// Reads linked rows.
  ///
  /// - Parameters:
  ///   - keys: The keys of the records on the left.
  ///   - indexes: The index of each key.
  ///   - order: The order of the rows of each key, with nil for that of their own keys. If there is none,
  ///     rows are read as they come.
  ///   - row: Takes a row.
  /// - Returns: Whether the rows came in order. As soon as they do not, reading ends.
  private func forEachRow<Right: Record>(
    of type: Right.Type, _ relation: Relation, from keys: [Value], _ indexes: [Value: Int],
    orderedBy order: SQL??, _ row: (RowReader, Int, () throws -> Value) throws -> Void
  ) throws -> Bool {
    let source = relation.rows(from: .init(keys), orderedBy: order)
    var isDone = Array(repeating: false, count: keys.count)
    var start: Value?
    // Integers are compared without making a value of each row.
    var startInteger: Int64?
    var index: Int?
    var lastEnd = Int64.min
    var isInOrder = true
    try forEachRow(of: type, besides: relation.columns, from: source) { reader, besides in
      let integer = besides.integer(at: 0)
      if integer == nil || integer != startInteger {
        let next = try besides.value(at: 0)
        if next != start {
          if let index { isDone[index] = true }
          (start, startInteger, index, lastEnd) = (next, integer, indexes[next], .min)
          isInOrder = !(index.map { isDone[$0] } ?? false)
        }
      }
      guard let index else { return true }
      if order == nil {
        guard isInOrder, let end = besides.integer(at: 1), lastEnd <= end else {
          isInOrder = false
          return false
        }
        lastEnd = end
      }
      try row(reader, index) { try besides.value(at: 1) }
      return true
    }
    return isInOrder
  }
}
