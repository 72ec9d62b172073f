/// Which elements of a list may stay when it becomes another.
struct ListComparison {
  /// For each element of the new list its place in the old one, ascending, or nil if it comes.
  private(set) var places: [Int?]

  /// Compares: a common beginning and end, and the longest ascending run of matches between.
  ///
  /// The most that can stay is found, unless elements occur so often that all pairs of equal ones are
  /// more than a few times the elements.
  ///
  /// - Parameters:
  ///   - old: The list as it is.
  ///   - new: The list as it shall be.
  /// - Complexity: O(*n* log *n*).
  init(from old: [Int64], to new: [Int64]) {
    places = Array(repeating: nil, count: new.count)
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] {
      places[start] = start
      start += 1
    }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] {
      end += 1
      places[new.count - end] = old.count - end
    }
    let matches = ListComparison.matches(
      old, start..<(old.count - end), new, start..<(new.count - end))
    for (old, new) in ListComparison.longestAscending(matches) { places[new] = old }
  }

  /// Pairs of equal elements, in the order of the new list.
  private static func matches(
    _ old: [Int64], _ oldRange: Range<Int>, _ new: [Int64], _ newRange: Range<Int>
  ) -> [(old: Int, new: Int)] {
    guard !oldRange.isEmpty, !newRange.isEmpty else { return [] }
    var occurrences: [Int64: ArraySlice<Int>] = [:]
    for place in oldRange { occurrences[old[place], default: []].append(place) }
    let most = 4 * (oldRange.count + newRange.count)
    var count = 0
    for place in newRange where count <= most { count += occurrences[new[place]]?.count ?? 0 }
    guard count <= most else {
      // Each once, the first with the first.
      return newRange.compactMap { place in
        occurrences[new[place]]?.popFirst().map { ($0, place) }
      }
    }
    // The last first, so that no run has two pairs of one new element.
    return newRange.flatMap { place in
      (occurrences[new[place]] ?? []).reversed().map { ($0, place) }
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
