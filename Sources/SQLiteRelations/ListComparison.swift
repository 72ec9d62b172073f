/// The elements of a list that can stay in place when the list is replaced by another one.
struct ListComparison {
  /// For each element of the new list, its index in the old one, in ascending order, or nil for a
  /// new element.
  private(set) var indexes: [Int?]

  /// Creates the comparison of two lists. It matches their common prefix and suffix, and a longest
  /// subsequence that the elements between them have in common.
  ///
  /// The number of elements that stay is maximal, unless elements are repeated so often that the
  /// number of pairs of equal elements is more than a few times the number of elements.
  ///
  /// - Parameters:
  ///   - old: The current list.
  ///   - new: The new list.
  /// - Complexity: O(*n* log *n*).
  init(from old: [Int64], to new: [Int64]) {
    indexes = Array(repeating: nil, count: new.count)
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] {
      indexes[start] = start
      start += 1
    }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] {
      end += 1
      indexes[new.count - end] = old.count - end
    }
    let matches = ListComparison.matches(
      old, start..<(old.count - end), new, start..<(new.count - end))
    for (old, new) in ListComparison.longestAscending(matches) { indexes[new] = old }
  }

  /// Returns the indexes of pairs of equal elements, in the order of the new list.
  private static func matches(
    _ old: [Int64], _ oldRange: Range<Int>, _ new: [Int64], _ newRange: Range<Int>
  ) -> [(old: Int, new: Int)] {
    guard !oldRange.isEmpty, !newRange.isEmpty else { return [] }
    var occurrences: [Int64: ArraySlice<Int>] = [:]
    for index in oldRange { occurrences[old[index], default: []].append(index) }
    let most = 4 * (oldRange.count + newRange.count)
    var count = 0
    for index in newRange where count <= most { count += occurrences[new[index]]?.count ?? 0 }
    guard count <= most else {
      // Pairs each element once, in order.
      return newRange.compactMap { index in
        occurrences[new[index]]?.popFirst().map { ($0, index) }
      }
    }
    // In descending order, so that no subsequence has two pairs with the same new element.
    return newRange.flatMap { index in
      (occurrences[new[index]] ?? []).reversed().map { ($0, index) }
    }
  }

  /// Returns the longest subsequence of index pairs in which the indexes of both lists ascend,
  /// found by patience sorting. The pairs are returned in descending order.
  private static func longestAscending(
    _ pairs: [(old: Int, new: Int)]
  ) -> [(old: Int, new: Int)] {
    /// For each length, the index in `pairs` of the pair that ends a subsequence of that length
    /// with the smallest possible old index.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (index, pair) in pairs.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].old < pair.old { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: [(old: Int, new: Int)] = []
    var next = ends.last
    while let index = next {
      run.append(pairs[index])
      next = previous[index]
    }
    return run
  }
}
