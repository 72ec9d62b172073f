/// The elements of a list that can stay when it becomes another.
struct ListComparison {
  /// For each element of the new list its index in the old one, ascending; nil for a new element.
  private(set) var indexes: [Int?]

  /// Compares: a common beginning and end, and the longest ascending run of matches between.
  ///
  /// The most that can stay is found, unless elements occur so often that all pairs of equal ones are
  /// more than a few times the elements.
  ///
  /// - Parameters:
  ///   - old: The list as it is.
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

  /// Pairs of equal elements, in the order of the new list.
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
      // Each once, the first with the first.
      return newRange.compactMap { index in
        occurrences[new[index]]?.popFirst().map { ($0, index) }
      }
    }
    // The last first, so that no run has two pairs of one new element.
    return newRange.flatMap { index in
      (occurrences[new[index]] ?? []).reversed().map { ($0, index) }
    }
  }

  /// The longest run of pairs that ascends on both sides, by patience sorting.
  private static func longestAscending(
    _ pairs: [(old: Int, new: Int)]
  ) -> [(old: Int, new: Int)] {
    /// For each length the pair on which the run of that length ends lowest.
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
