/// The numbers of rows by their keys, in the order in which they came.
///
/// Rows mostly come in the order of their keys: then a key is found by looking where it would be if
/// none were missing, else by halving. A dictionary is made only if rows come in another order.
struct RowNumbers: Sendable {
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
    // Keys that are missing only let a key come earlier.
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
