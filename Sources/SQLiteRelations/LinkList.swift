package import SQLiteCore

extension Connection {
  /// Replaces an owner's list by `targets`, in that order.
  ///
  /// Links that are in both lists, in the same order, are left alone: an insertion writes only the new
  /// links, and at times a few neighbours that make room for them.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ.
  package func setList(_ table: LinkTable, of owner: Int64, to targets: [Int64]) throws(SQLiteError)
  {
    let present = try entries(table, of: owner)
    try write(ListChange(from: present, to: targets), table, owner)
  }

  /// Changes an owner's list as another list was changed, whatever others have done to it meanwhile.
  ///
  /// Additions stay, removals stay, and links that nobody has touched are left alone. An
  /// insertion into a gap comes behind those that others have made there.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after it.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ; only the writes for targets that are appended.
  package func changeList(
    _ table: LinkTable, of owner: Int64, from base: [Int64], to targets: [Int64]
  ) throws(SQLiteError) {
    if targets.starts(with: base) {
      return try appendToList(table, of: owner, Array(targets[base.count...]))
    }
    let present = try entries(table, of: owner)
    let merge = ListMerge(base, mine: targets, others: present.map(\.target))
    try write(ListChange(from: present, to: merge.elements), table, owner)
  }

  /// Adds targets at the end of an owner's list, without reading it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n* log *m*) for *n* targets and *m* links.
  package func appendToList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let last = try firstRow(
      "SELECT max(position) FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64?.self)
    try insert(targets, between: last ?? nil, and: nil, table, owner)
  }

  /// Inserts targets into an owner's list, without reading it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  ///   - index: The number of links before them. If there are fewer, they are added at the end; a negative index
  ///     is the start.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n* + `index`) for *n* targets, unless there is no room left between two links.
  package func insertIntoList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64], at index: Int
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let isAtStart = index <= 0
    let around = try rows(
      "SELECT position FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position LIMIT \(isAtStart ? 1 : 2) OFFSET \(isAtStart ? 0 : index - 1)",
      as: Int64.self)
    if isAtStart {
      try insert(targets, between: nil, and: around.first, table, owner)
    } else if around.count == 2 {
      try insert(targets, between: around[0], and: around[1], table, owner)
    } else {
      try appendToList(table, of: owner, targets)
    }
  }

  /// Inserts targets between neighbours; where there is no room for them, these are spread out.
  private func insert(
    _ targets: [Int64], between before: Int64?, and after: Int64?, _ table: LinkTable,
    _ owner: Int64
  ) throws(SQLiteError) {
    if let positions = ListChange.positions(targets.count, between: before, and: after) {
      let entries = zip(positions, targets).map { ListChange.Entry(position: $0, target: $1) }
      return try insert(entries, table, owner)
    }
    let present = try entries(table, of: owner)
    let index = present.firstIndex { $0.position == after } ?? present.count
    let old = present.indices.map { (target: present[$0].target, index: Optional($0)) }
    let new = targets.map { (target: $0, index: Int?.none) }
    try write(
      ListChange(from: present, to: old[..<index] + new + old[index...]), table, owner)
  }

  /// The links of a list, in order.
  private func entries(
    _ table: LinkTable, of owner: Int64
  ) throws(SQLiteError) -> [ListChange.Entry] {
    try rows(
      "SELECT position, target FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position",
      as: Int64.self, Int64.self
    ).map { ListChange.Entry(position: $0, target: $1) }
  }

  private func write(
    _ change: ListChange, _ table: LinkTable, _ owner: Int64
  ) throws(SQLiteError) {
    if !change.removed.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND position IN \(change.removed)"
      )
    }
    try insert(change.inserted, table, owner)
  }

  private func insert(
    _ entries: [ListChange.Entry], _ table: LinkTable, _ owner: Int64
  ) throws(SQLiteError) {
    guard !entries.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, position, target) VALUES (?, ?, ?)")
    for entry in entries { try insert.run(owner, entry.position, entry.target) }
  }
}

/// The rows to write so that a list at sparse positions becomes another.
///
/// Links that are in both, in the same order, keep their rows. New links get positions in the gaps; where
/// a gap is used up, its neighbourhood is spread out, as far as needed and no farther.
struct ListChange {
  /// The distance between neighbours in a fresh list.
  static let step: Int64 = 1 << 20

  /// A link at its position.
  struct Entry: Equatable {
    var position: Int64
    var target: Int64
  }

  /// The positions of the links to delete, in ascending order.
  private(set) var removed: [Int64] = []
  /// The links to insert, in ascending order; some take the positions of deleted ones.
  private(set) var inserted: [Entry] = []

  /// Compares.
  ///
  /// - Parameters:
  ///   - present: The links as they are, in order.
  ///   - targets: The targets of the new list.
  /// - Complexity: O(*n* log *n*) for *n* links between the common beginning and the common end.
  init(from present: [Entry], to targets: [Int64]) {
    let common = ListComparison(from: present.map(\.target), to: targets)
    self.init(from: present, to: Array(zip(targets, common.indexes)))
  }

  /// Finds positions for the new links.
  ///
  /// - Parameters:
  ///   - present: The links as they are, in order.
  ///   - elements: The targets of the new list, each with its index in `present`, in ascending order, or
  ///     nil for a new link.
  /// - Complexity: O(*n*).
  init(from present: [Entry], to elements: [(target: Int64, index: Int?)]) {
    let kept = elements.map { $0.index.map { present[$0].position } }
    var spacing = Spacing(kept)
    spacing.fill()
    // Both are in ascending order: one pass finds what has no equal in the other.
    var old = 0
    for (new, position) in spacing.positions.enumerated() {
      if kept[new] == position {
        while present[old].position != position {
          removed.append(present[old].position)
          old += 1
        }
        old += 1
      } else if let position {
        inserted.append(Entry(position: position, target: elements[new].target))
      }
    }
    removed += present[old...].map(\.position)
  }
}

extension ListChange {
  /// Positions between two neighbours, at least `least` from each other and from these; nil if there is
  /// no room for them.
  static func positions(
    _ count: Int, between before: Int64?, and after: Int64?, apart least: Int64 = 1
  ) -> [Int64]? {
    let count = Int64(count)
    let room = (count + 1) * step
    switch (before, after) {
    case (nil, nil):
      return (0..<count).map { $0 * step }
    case (let before?, nil):
      guard before < .max - room else { return nil }
      return (1...count).map { before + $0 * step }
    case (nil, let after?):
      guard after > .min + room else { return nil }
      return (1...count).reversed().map { after - $0 * step }
    case (let before?, let after?):
      let (distance, overflows) = after.subtractingReportingOverflow(before)
      let step = min(step, (overflows ? .max : distance) / (count + 1))
      guard step >= least else { return nil }
      return (1...count).map { before + $0 * step }
    }
  }
}

/// Positions for a list of which some are known, in ascending order.
private struct Spacing {
  /// All positions, once they are filled.
  private(set) var positions: [Int64?]

  init(_ positions: [Int64?]) {
    self.positions = positions
  }

  /// Fills all gaps.
  mutating func fill() {
    var start = 0
    while start < positions.count {
      guard positions[start] == nil else {
        start += 1
        continue
      }
      start = fillGap(start..<end(ofGapAt: start))
    }
  }

  private func end(ofGapAt index: Int) -> Int {
    var end = index
    while end < positions.count, positions[end] == nil { end += 1 }
    return end
  }

  /// Fills one gap, and returns the index behind the last position that it has set.
  ///
  /// The larger the neighbourhood that must be spread out, the more room it is left with: so an
  /// insertion moves O(log *n*) others on average, wherever insertions come.
  private mutating func fillGap(_ gap: Range<Int>) -> Int {
    var window = gap
    var least: Int64 = 1
    while true {
      if let fresh = fresh(for: window, least: least) {
        for (index, position) in zip(window, fresh) { positions[index] = position }
        return window.upperBound
      }
      let more = window.count
      window =
        max(
          0, window.lowerBound - more)..<end(
          ofGapAt: min(positions.count, window.upperBound + more))
      least = max(16, Int64(window.count))
    }
  }

  /// Positions for a window, at least so far from each other and from its neighbours, or nil.
  private func fresh(for window: Range<Int>, least: Int64) -> [Int64]? {
    let before = window.lowerBound > 0 ? positions[window.lowerBound - 1] : nil
    let after = window.upperBound < positions.count ? positions[window.upperBound] : nil
    return ListChange.positions(window.count, between: before, and: after, apart: least)
  }
}

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

/// Two changes of one list, merged: mine, and those that others have made meanwhile.
///
/// Additions of either side stay, and removals of either side win, even if the other side has moved the
/// element. My additions come in front of the next element that neither side has moved, so that those
/// of others in the same gap come first, in the order of the commits.
///
/// An element that is removed at one index of the list and added at another has moved. Of equal elements the
/// first that leaves is taken for the first that comes.
struct ListMerge {
  /// The merged list: each element with its index in the others' list, or nil for a new one.
  private(set) var elements: [(target: Int64, index: Int?)] = []

  /// Merges.
  ///
  /// - Parameters:
  ///   - base: The list that I had before I changed it.
  ///   - mine: My list.
  ///   - others: The list as it is now.
  /// - Complexity: O(*n* log *n*); O(*n*) if nobody has changed the list.
  init(_ base: [Int64], mine: [Int64], others: [Int64]) {
    let kept = ListComparison(from: base, to: mine)
    if others == base {
      elements = Array(zip(mine, kept.indexes))
      return
    }
    let theirs = ListComparison(from: base, to: others)
    var unmoved = [Int?](repeating: nil, count: base.count)
    for (index, old) in theirs.indexes.enumerated() {
      if let old { unmoved[old] = index }
    }
    // Where the others have each element of the base.
    var indexes = unmoved
    for (old, new) in theirs.moves(from: base, to: others) { indexes[old] = new }

    var isLeaving = [Bool](repeating: false, count: others.count)
    for old in kept.leaving(base) {
      if let index = indexes[old] { isLeaving[index] = true }
    }
    let moved = Dictionary(
      kept.moves(from: base, to: mine).map { ($0.new, $0.old) }, uniquingKeysWith: { $1 })
    // From the end: each comes in front of the next element that neither side has moved.
    var coming: [(target: Int64, next: Int)] = []
    var next = others.count
    for (new, old) in kept.indexes.enumerated().reversed() {
      if let old {
        next = unmoved[old] ?? next
      } else if let old = moved[new], indexes[old] == nil {
        // I have only moved it, and others have removed it.
        continue
      } else {
        coming.append((mine[new], next))
      }
    }
    for index in 0...others.count {
      while let last = coming.last, last.next == index {
        elements.append((last.target, nil))
        coming.removeLast()
      }
      if index < others.count, !isLeaving[index] { elements.append((others[index], index)) }
    }
  }
}

extension ListComparison {
  /// The indexes of the old elements that do not stay, in ascending order.
  fileprivate func leaving(_ old: [Int64]) -> [Int] {
    var isStaying = [Bool](repeating: false, count: old.count)
    for case let index? in indexes { isStaying[index] = true }
    return old.indices.filter { !isStaying[$0] }
  }

  /// Pairs of equal elements of which one goes and one is new: the elements that have moved.
  fileprivate func moves(from old: [Int64], to new: [Int64]) -> [(old: Int, new: Int)] {
    let leaving = leaving(old)
    guard !leaving.isEmpty else { return [] }
    var occurrences: [Int64: ArraySlice<Int>] = [:]
    for index in leaving { occurrences[old[index], default: []].append(index) }
    return new.indices.compactMap { index in
      guard indexes[index] == nil else { return nil }
      return occurrences[new[index]]?.popFirst().map { ($0, index) }
    }
  }
}
