public import SQLiteCore

extension Connection {
  /// Makes an owner's list hold just `targets`, in that order.
  ///
  /// Links that are in both lists, in the same order, are left alone, so that an insertion writes only
  /// what it inserts, and at times a few neighbours that make room for it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ.
  public func setList(_ table: LinkTable, of owner: Int64, to targets: [Int64]) throws(SQLiteError)
  {
    let present = try places(table, of: owner)
    try write(ListChange(from: present, to: targets), table, owner)
  }

  /// Changes an owner's list as another list was changed, whatever others have done to it meanwhile.
  ///
  /// What is added stays, what is removed goes, and links that nobody has touched are left alone. What is
  /// put into a gap comes behind what others have put there.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after it.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ; only that for what is appended.
  public func changeList(
    _ table: LinkTable, of owner: Int64, from base: [Int64], to targets: [Int64]
  ) throws(SQLiteError) {
    if targets.starts(with: base) {
      return try appendToList(table, of: owner, Array(targets[base.count...]))
    }
    let present = try places(table, of: owner)
    let merge = ListMerge(base, mine: targets, others: present.map(\.target))
    try write(ListChange(from: present, to: merge.elements), table, owner)
  }

  /// Adds targets at the end of an owner's list, without reading it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *m*) for *n* targets and *m* links.
  public func appendToList(
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
  ///   - place: How many links come before them; the end, if there are less.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* + `place`) for *n* targets, unless there is no room left between two links.
  public func insertIntoList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64], at place: Int
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let first = max(0, place - 1)
    let around = try rows(
      "SELECT position FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position LIMIT \(place > 0 ? 2 : 1) OFFSET \(first)",
      as: Int64.self)
    if place <= 0 {
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
      let places = zip(positions, targets).map { ListChange.Place(position: $0, target: $1) }
      return try insert(places, table, owner)
    }
    let present = try places(table, of: owner)
    let place = present.firstIndex { $0.position == after } ?? present.count
    let old = present.indices.map { (target: present[$0].target, place: Optional($0)) }
    let new = targets.map { (target: $0, place: Int?.none) }
    try write(
      ListChange(from: present, to: old[..<place] + new + old[place...]), table, owner)
  }

  /// The links of a list, in order.
  private func places(
    _ table: LinkTable, of owner: Int64
  ) throws(SQLiteError) -> [ListChange.Place] {
    try rows(
      "SELECT position, target FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position",
      as: Int64.self, Int64.self
    ).map { ListChange.Place(position: $0, target: $1) }
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
    _ places: [ListChange.Place], _ table: LinkTable, _ owner: Int64
  ) throws(SQLiteError) {
    guard !places.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, position, target) VALUES (?, ?, ?)")
    for place in places { try insert.run(owner, place.position, place.target) }
  }
}

/// The rows to write so that a list at sparse positions becomes another.
///
/// Links that are in both, in the same order, keep their rows. What comes gets positions in the gaps;
/// where a gap is used up, its neighbourhood is spread out, as far as needed and no farther.
struct ListChange {
  /// The distance between neighbours in a fresh list.
  static let step: Int64 = 1 << 20

  /// A link at its position.
  struct Place: Equatable {
    var position: Int64
    var target: Int64
  }

  /// Positions whose links go, in ascending order.
  private(set) var removed: [Int64] = []
  /// Links that come, in ascending order; some take positions that others leave.
  private(set) var inserted: [Place] = []

  /// Compares.
  ///
  /// - Parameters:
  ///   - present: The links as they are, in order.
  ///   - targets: The targets as they shall be.
  /// - Complexity: O(*n* log *n*) for *n* links between the common beginning and the common end.
  init(from present: [Place], to targets: [Int64]) {
    let common = ListComparison(from: present.map(\.target), to: targets)
    self.init(from: present, to: Array(zip(targets, common.places)))
  }

  /// Finds positions for what comes.
  ///
  /// - Parameters:
  ///   - present: The links as they are, in order.
  ///   - elements: The targets as they shall be, each with its place in `present`, in ascending order,
  ///     or nil if it comes.
  /// - Complexity: O(*n*).
  init(from present: [Place], to elements: [(target: Int64, place: Int?)]) {
    let kept = elements.map { $0.place.map { present[$0].position } }
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
        inserted.append(Place(position: position, target: elements[new].target))
      }
    }
    removed += present[old...].map(\.position)
  }
}

extension ListChange {
  /// Positions between two neighbours, at least so far from each other and from these, or nil if there
  /// is no room for them.
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

  /// Gives a position to each place that has none.
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

  private func end(ofGapAt place: Int) -> Int {
    var end = place
    while end < positions.count, positions[end] == nil { end += 1 }
    return end
  }

  /// Fills one gap, and returns the place behind what it has written.
  ///
  /// The larger the neighbourhood that must be spread out, the more room it is left with: so an
  /// insertion moves O(log *n*) others on average, wherever insertions come.
  private mutating func fillGap(_ gap: Range<Int>) -> Int {
    var window = gap
    var least: Int64 = 1
    while true {
      if let fresh = fresh(for: window, least: least) {
        for (place, position) in zip(window, fresh) { positions[place] = position }
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

/// Two changes of one list, brought together: mine, and what others have done to it meanwhile.
///
/// What one side has added stays, and what one side has removed goes, even if the other has moved it.
/// What I have put somewhere is put in front of the next element that neither side has moved: so what
/// others have put into the same gap comes first, in the order of the commits.
///
/// An element that leaves one place of the list and comes at another has moved. Of equal elements the
/// first that leaves is taken for the first that comes.
struct ListMerge {
  /// The elements as they shall be, each with its place in the others' list, or nil if it comes.
  private(set) var elements: [(target: Int64, place: Int?)] = []

  /// Brings together.
  ///
  /// - Parameters:
  ///   - base: The list that I had before I changed it.
  ///   - mine: My list.
  ///   - others: The list as it is now.
  /// - Complexity: O(*n* log *n*); O(*n*) if nobody has changed the list.
  init(_ base: [Int64], mine: [Int64], others: [Int64]) {
    let kept = ListComparison(from: base, to: mine)
    if others == base {
      elements = Array(zip(mine, kept.places))
      return
    }
    let theirs = ListComparison(from: base, to: others)
    var unmoved = [Int?](repeating: nil, count: base.count)
    for (place, old) in theirs.places.enumerated() {
      if let old { unmoved[old] = place }
    }
    // Where the others have each element of the base.
    var places = unmoved
    for (old, new) in theirs.moves(from: base, to: others) { places[old] = new }

    var isLeaving = [Bool](repeating: false, count: others.count)
    for old in kept.leaving(base) {
      if let place = places[old] { isLeaving[place] = true }
    }
    let moved = Dictionary(
      kept.moves(from: base, to: mine).map { ($0.new, $0.old) }, uniquingKeysWith: { $1 })
    // From the end: each comes in front of the next element that neither side has moved.
    var coming: [(target: Int64, next: Int)] = []
    var next = others.count
    for (new, old) in kept.places.enumerated().reversed() {
      if let old {
        next = unmoved[old] ?? next
      } else if let old = moved[new], places[old] == nil {
        // I have only moved it, and others have removed it.
        continue
      } else {
        coming.append((mine[new], next))
      }
    }
    for place in 0...others.count {
      while let last = coming.last, last.next == place {
        elements.append((last.target, nil))
        coming.removeLast()
      }
      if place < others.count, !isLeaving[place] { elements.append((others[place], place)) }
    }
  }
}

extension ListComparison {
  /// The places of the old list's elements that do not stay, in ascending order.
  fileprivate func leaving(_ old: [Int64]) -> [Int] {
    var isStaying = [Bool](repeating: false, count: old.count)
    for case let place? in places { isStaying[place] = true }
    return old.indices.filter { !isStaying[$0] }
  }

  /// Pairs what leaves with what comes, if they are equal: each element that has moved.
  fileprivate func moves(from old: [Int64], to new: [Int64]) -> [(old: Int, new: Int)] {
    let leaving = leaving(old)
    guard !leaving.isEmpty else { return [] }
    var occurrences: [Int64: ArraySlice<Int>] = [:]
    for place in leaving { occurrences[old[place], default: []].append(place) }
    return new.indices.compactMap { place in
      guard places[place] == nil else { return nil }
      return occurrences[new[place]]?.popFirst().map { ($0, place) }
    }
  }
}
