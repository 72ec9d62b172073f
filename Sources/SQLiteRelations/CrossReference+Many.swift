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
    return try reading(reference, without: []) { links in
      let relation = links.relation
      if let starts = IntegerStarts(keys) {
        let isSorted = order != nil || links.isUnordered
        let integers = starts.integers
        let source = relation.rows(
          from: isSorted ? .integers(integers) : .unsorted(integers), orderedBy: order?.sql)
        var cursor = starts.cursor(checksEnds: !isSorted)
        try forEachRow(of: Right.self, besides: relation.columns, from: source) { reader, besides in
          guard let index = cursor.index(of: besides) else { return false }
          try row(reader, index) { try besides.value(at: 1) }
          return true
        }
        if !cursor.isDisordered { return starts.repeated }
        if !isSorted { links.isUnordered = true }
        begin()
      }
      // By the values themselves: only SQLite knows how those of a column sort, and which are equal.
      var first: [Value: Int] = [:]
      var repeated: [(Int, Int)] = []
      for (index, key) in keys.enumerated() {
        if let first = first[key] { repeated.append((index, first)) } else { first[key] = index }
      }
      let source = relation.rows(from: .many(keys), orderedBy: order?.sql)
      try forEachRow(of: Right.self, besides: relation.columns, from: source) { reader, besides in
        if let index = first[try besides.value(at: 0)] {
          try row(reader, index) { try besides.value(at: 1) }
        }
        return true
      }
      return repeated
    }
  }
}

/// The keys of records, if all are integers, in ascending order.
private struct IntegerStarts {
  /// Each key with the index of its record.
  private var keys: [(key: Int64, index: Int)] = []

  /// Takes keys; nil if one of them is something else.
  init?(_ values: [Value]) {
    keys.reserveCapacity(values.count)
    var isAscending = true
    for (index, value) in values.enumerated() {
      guard case .integer(let key) = value else { return nil }
      if let last = keys.last, last.key >= key { isAscending = false }
      keys.append((key, index))
    }
    // Of equal keys that of the first record comes first.
    if !isAscending { keys.sort { $0 < $1 } }
  }

  var integers: [Int64] { keys.map(\.key) }

  /// The indexes of records with the key of another one, each with the index of the first one.
  var repeated: [(index: Int, first: Int)] {
    var repeated: [(Int, Int)] = []
    var first = keys[0]
    for entry in keys.dropFirst() {
      if entry.key == first.key {
        repeated.append((entry.index, first.index))
      } else {
        first = entry
      }
    }
    return repeated
  }

  func cursor(checksEnds: Bool) -> Cursor { Cursor(keys: keys, checksEnds: checksEnds) }

  /// Finds the records of rows, which come in the order of their keys.
  struct Cursor {
    fileprivate let keys: [(key: Int64, index: Int)]
    /// Whether the ends of each key ought to be integers in ascending order too.
    fileprivate let checksEnds: Bool
    private var place = 0
    private var lastEnd: Int64?
    /// Whether a row has come that was not to come now.
    private(set) var isDisordered = false

    fileprivate init(keys: [(key: Int64, index: Int)], checksEnds: Bool) {
      self.keys = keys
      self.checksEnds = checksEnds
    }

    /// Returns the index of a row's record, or nil if the rows are in disorder.
    mutating func index(of row: ColumnsBesides) -> Int? {
      guard let start = row.integer(at: 0) else { return disorder() }
      if keys[place].key != start {
        repeat { place += 1 } while place < keys.count && keys[place].key < start
        guard place < keys.count, keys[place].key == start else { return disorder() }
        lastEnd = nil
      }
      if checksEnds {
        guard let end = row.integer(at: 1) else { return disorder() }
        if let lastEnd, lastEnd > end { return disorder() }
        lastEnd = end
      }
      return keys[place].index
    }

    private mutating func disorder() -> Int? {
      isDisordered = true
      place = 0
      return nil
    }
  }
}
