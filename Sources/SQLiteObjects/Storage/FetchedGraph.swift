import SQLiteCore

/// The rows of one type that a fetch brought.
struct FetchedRows: Sendable {
  let shape: ObjectShape
  /// The storages of the rows, in their order.
  private(set) var storages: [ObjectStorage] = []
  /// The number of each row, by its z_index.
  private(set) var numbers = RowNumbers()
  /// The number of rows that the query itself found; they come first, in its order.
  var foundCount = 0
  /// The links of properties.
  var links: [Int: FetchedLinks] = [:]

  init(_ shape: ObjectShape) {
    self.shape = shape
  }

  /// The z_index values that the query itself found, in its order.
  var found: ArraySlice<Int64> { numbers.keys.prefix(foundCount) }

  /// Notes a row, whose storage comes next.
  ///
  /// - Returns: False if the row is there already.
  mutating func note(_ zIndex: Int64) -> Bool { numbers.append(zIndex) }

  /// Takes the storage of the row that was noted last.
  mutating func append(_ storage: ObjectStorage) { storages.append(storage) }
}

/// The links of one property that a fetch brought, owner by owner.
struct FetchedLinks: Equatable, Sendable {
  private var targets: [Int64] = []
  private var keys: [Value] = []
  private var owners = RowNumbers()
  /// The index of each owner's first link.
  private var starts: [Int] = []

  /// The links of an owner.
  subscript(owner: Int64) -> LinkTargets {
    guard let number = owners[owner] else { return .none }
    let end = number + 1 < starts.count ? starts[number + 1] : targets.count
    let range = starts[number]..<end
    return LinkTargets(targets: targets[range], keys: keys.isEmpty ? [] : keys[range])
  }

  /// The number of links.
  var count: Int { targets.count }

  /// The targets of all links but the first ones.
  func targets(from first: Int) -> ArraySlice<Int64> { targets[first...] }

  /// Notes an owner, whose links come next.
  ///
  /// - Returns: False if the owner's links are there already.
  mutating func note(_ owner: Int64) -> Bool {
    guard owners.append(owner) else { return false }
    starts.append(targets.count)
    return true
  }

  /// Takes a link of the owner that was noted last; of a dictionary with its key.
  mutating func append(_ target: Int64, key: Value?) {
    targets.append(target)
    if let key { keys.append(key) }
  }
}

/// Everything that one fetch brought, as of one snapshot.
struct FetchedGraph: Sendable {
  /// The rows of each type.
  var tables: [FetchedRows] = []
  /// The index of each type in ``tables``.
  private(set) var indexes: [ObjectIdentifier: Int] = [:]

  /// The index of a type in ``tables``, where it is added unless it is there.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if there are too many types.
  mutating func index(of shape: ObjectShape) throws -> Int {
    let type = ObjectIdentifier(shape.type)
    if let index = indexes[type] { return index }
    guard tables.count < CellIndex.limit else {
      throw MagicError.unsuitableType(
        type: shape.typeName, reason: "a fetch leads to more than \(CellIndex.limit) types")
    }
    indexes[type] = tables.count
    tables.append(FetchedRows(shape))
    return tables.count - 1
  }

  /// The z_index values of a type that the query itself found, in its order.
  func found(_ type: any MagicObject.Type) -> ArraySlice<Int64> {
    indexes[ObjectIdentifier(type)].map { tables[$0].found } ?? []
  }
}

/// The rows of one type in a fetch, once they are complete.
final class FetchedTable: Sendable {
  let shape: ObjectShape
  let type: ObjectIdentifier
  /// The first of the type's rows among those of all types.
  let start: Int
  /// The number of each row, by its z_index.
  let numbers: RowNumbers
  /// The z_index values that the query itself found, in its order.
  let found: ArraySlice<Int64>
  let links: [Int: FetchedLinks]
  /// For each property the table of the objects that it leads to, or -1.
  let targets: [Int]

  init(_ rows: FetchedRows, start: Int, _ indexes: [ObjectIdentifier: Int]) {
    shape = rows.shape
    type = ObjectIdentifier(rows.shape.type)
    self.start = start
    numbers = rows.numbers
    found = rows.found
    links = rows.links
    targets = rows.shape.properties.map { property in
      property.role.target.flatMap { indexes[ObjectIdentifier($0)] } ?? -1
    }
  }
}

/// The numbers of rows by their keys, in the order in which they came.
///
/// Rows mostly come in the order of their keys: then a key is found at the index that it would have if
/// none were missing, else by bisection. A dictionary is made only if rows come in another order.
struct RowNumbers: Equatable, Sendable {
  /// The keys, row by row.
  private(set) var keys: [Int64] = []
  private var isAscending = true
  private var byKey: [Int64: Int] = [:]

  var count: Int { keys.count }

  /// Gives the next number to a key.
  ///
  /// - Returns: False if the key has one already.
  mutating func append(_ key: Int64) -> Bool {
    if isAscending, let last = keys.last, key <= last {
      if self[key] != nil { return false }
      isAscending = false
      byKey.reserveCapacity(keys.count * 2)
      for (number, key) in keys.enumerated() { byKey[key] = number }
    }
    if !isAscending {
      if byKey[key] != nil { return false }
      byKey[key] = keys.count
    }
    keys.append(key)
    return true
  }

  /// The number of a key, or nil.
  subscript(key: Int64) -> Int? {
    guard isAscending else { return byKey[key] }
    guard let first = keys.first, key >= first else { return nil }
    let distance = UInt64(bitPattern: key &- first)
    if distance < UInt64(keys.count), keys[Int(distance)] == key { return Int(distance) }
    var low = 0
    // Missing keys can only make a key come earlier.
    var high = Int(min(distance, UInt64(keys.count)))
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? low : nil
  }

  /// Keys, each once, in ascending order.
  static func distinct(_ keys: [Int64]) -> [Int64] {
    guard let first = keys.first else { return [] }
    var (least, greatest) = (first, first)
    for key in keys {
      if key < least { least = key }
      if key > greatest { greatest = key }
    }
    let (range, overflows) = greatest.subtractingReportingOverflow(least)
    guard !overflows, range / 64 <= keys.count else { return sortedDistinct(keys) }
    // Keys lie close together: a bit for each is less work than sorting.
    var words = [UInt64](repeating: 0, count: Int(range / 64) + 1)
    for key in keys {
      let bit = Int(key - least)
      words[bit / 64] |= 1 << UInt64(bit % 64)
    }
    var distinct: [Int64] = []
    distinct.reserveCapacity(keys.count)
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        distinct.append(least + Int64(index * 64 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return distinct
  }

  private static func sortedDistinct(_ keys: [Int64]) -> [Int64] {
    var distinct: [Int64] = []
    distinct.reserveCapacity(keys.count)
    for key in keys.sorted() where key != distinct.last { distinct.append(key) }
    return distinct
  }
}
