import SQLiteCore

/// The rows of one type that a fetch has loaded.
struct FetchedRows: Sendable {
  let shape: ObjectShape
  /// The storages of the rows, in row order.
  private(set) var storages: [ObjectStorage] = []
  /// The index in ``storages`` of the row with each z_index.
  private(set) var numbers = RowNumbers()
  /// The number of rows that the query itself returned. They precede the rows that were loaded for
  /// relations, and are in the order of the query.
  var foundCount = 0
  /// The links of each to-many property, by slot.
  var links: [Int: FetchedLinks] = [:]

  init(_ shape: ObjectShape) {
    self.shape = shape
  }

  /// The z_index values that the query itself returned, without related objects, in the order of
  /// the query.
  var found: ArraySlice<Int64> { numbers.keys.prefix(foundCount) }

  /// Registers the z_index of a row. The caller appends the storage of the row next.
  ///
  /// - Returns: False if the row is already registered.
  mutating func register(_ zIndex: Int64) -> Bool { numbers.append(zIndex) }

  /// Appends the storage of the row that was registered last.
  mutating func append(_ storage: ObjectStorage) { storages.append(storage) }
}

/// The links of one property that a fetch has loaded, grouped by owner.
struct FetchedLinks: Equatable, Sendable {
  private var targets: [Int64] = []
  private var keys: [Value] = []
  private var owners = RowNumbers()
  /// The index in `targets` of each owner's first link, in the order of the owners.
  private var starts: [Int] = []

  /// The links of an owner, in order. They are empty if the fetch has loaded none.
  subscript(owner: Int64) -> LinkTargets {
    guard let number = owners[owner] else { return .none }
    let end = number + 1 < starts.count ? starts[number + 1] : targets.count
    let range = starts[number]..<end
    return LinkTargets(targets: targets[range], keys: keys.isEmpty ? [] : keys[range])
  }

  /// The number of links of all owners.
  var count: Int { targets.count }

  /// Returns the targets of the links from index `first` on.
  func targets(from first: Int) -> ArraySlice<Int64> { targets[first...] }

  /// Registers the z_index of an owner. The caller appends its links next.
  ///
  /// - Returns: False if the owner is already registered.
  mutating func register(_ owner: Int64) -> Bool {
    guard owners.append(owner) else { return false }
    starts.append(targets.count)
    return true
  }

  /// Appends a link of the owner that was registered last. `key` is its key in a dictionary, or nil
  /// for any other collection.
  mutating func append(_ target: Int64, key: Value?) {
    targets.append(target)
    if let key { keys.append(key) }
  }
}

/// The rows and links that one fetch has loaded from one snapshot.
struct FetchedGraph: Sendable {
  /// The rows that were loaded, grouped by type.
  var tables: [FetchedRows] = []
  /// The index of each type in ``tables``.
  private(set) var indexes: [ObjectIdentifier: Int] = [:]

  /// Returns the index of a type in ``tables``, and adds the type if it is missing.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if there are too many types.
  mutating func index(of shape: ObjectShape) throws -> Int {
    let type = ObjectIdentifier(shape.type)
    if let index = indexes[type] { return index }
    guard tables.count < CellIndex.limit else {
      throw MagicError.unsuitableType(
        type: shape.typeName, reason: "a fetch loads more than \(CellIndex.limit) types")
    }
    indexes[type] = tables.count
    tables.append(FetchedRows(shape))
    return tables.count - 1
  }

  /// Returns the z_index values of a type that the query itself returned, without related objects,
  /// in the order of the query.
  func found(_ type: any MagicObject.Type) -> ArraySlice<Int64> {
    indexes[ObjectIdentifier(type)].map { tables[$0].found } ?? []
  }
}

/// The rows of one type in a completed fetch.
final class FetchedTable: Sendable {
  let shape: ObjectShape
  let type: ObjectIdentifier
  /// The index of the type's first row among the rows of all types.
  let start: Int
  /// The row number of each z_index, relative to ``start``.
  let numbers: RowNumbers
  /// The z_index values that the query itself returned, without related objects, in the order of
  /// the query.
  let found: ArraySlice<Int64>
  let links: [Int: FetchedLinks]
  /// For each property, the index of the table of its target type, or -1 if the property isn't a
  /// relation or the fetch hasn't loaded the target type.
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

/// The row numbers of keys, in the order in which the keys were appended.
///
/// Rows mostly arrive in ascending order of their keys. A lookup then tries the index that the key
/// has if no keys are missing, and falls back to binary search. A dictionary is built only if rows
/// arrive in another order.
struct RowNumbers: Equatable, Sendable {
  /// The keys, each at the index that is its row number.
  private(set) var keys: [Int64] = []
  private var isAscending = true
  private var byKey: [Int64: Int] = [:]

  var count: Int { keys.count }

  /// Assigns the next row number to a key.
  ///
  /// - Returns: False if the key already has a number.
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

  /// The row number of a key, or nil if the key is unknown.
  subscript(key: Int64) -> Int? {
    guard isAscending else { return byKey[key] }
    guard let first = keys.first, key >= first else { return nil }
    let distance = UInt64(bitPattern: key &- first)
    if distance < UInt64(keys.count), keys[Int(distance)] == key { return Int(distance) }
    var low = 0
    // Missing keys can only lower the index of a key.
    var high = Int(min(distance, UInt64(keys.count)))
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? low : nil
  }

  /// Returns the keys without duplicates, in ascending order.
  static func distinct(_ keys: [Int64]) -> [Int64] {
    guard let first = keys.first else { return [] }
    var (least, greatest) = (first, first)
    for key in keys {
      if key < least { least = key }
      if key > greatest { greatest = key }
    }
    let (range, overflows) = greatest.subtractingReportingOverflow(least)
    guard !overflows, range / 64 <= keys.count else { return sortedDistinct(keys) }
    // The keys are dense, so a bitmap is faster than sorting.
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
