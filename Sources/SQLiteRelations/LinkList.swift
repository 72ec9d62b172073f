package import SQLiteCore

extension Connection {
  /// Replaces the list of an owner with `targets`, in that order.
  ///
  /// Links that are in both lists, in the same order, don't change. An insertion writes only the
  /// new links and, occasionally, a few neighbors to make room for them.
  ///
  /// - Parameters:
  ///   - table: A link table of lists.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n* log *n*) for *n* links, with one write per link that differs.
  package func setList(_ table: LinkTable, of owner: Int64, to targets: [Int64]) throws(SQLiteError)
  {
    let present = try entries(table, of: owner)
    try write(ListChange(from: present, to: targets), table, owner)
  }

  /// Applies the difference between two lists to the list of an owner, and keeps concurrent
  /// changes.
  ///
  /// The additions and removals of the caller and of concurrent changes survive. Unchanged links
  /// are not written. Where both have added links in the same gap, the new links of the caller come
  /// last.
  ///
  /// - Parameters:
  ///   - table: A link table of lists.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after the change.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n* log *n*) for *n* links, with one write per link that differs. If targets
  ///   are only appended, the list is not read.
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

  /// Appends targets to the list of an owner, without reading the list.
  ///
  /// - Parameters:
  ///   - table: A link table of lists.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n* log *m*) for *n* targets and *m* links.
  package func appendToList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let last = try firstRow(
      "SELECT max(position) FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64?.self)
    try insert(targets, between: last ?? nil, and: nil, table, owner)
  }

  /// Inserts targets into the list of an owner, without reading the whole list.
  ///
  /// - Parameters:
  ///   - table: A link table of lists.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  ///   - index: The number of existing links that precede the new ones. If it is greater than the
  ///     length of the list, the targets are appended. If it is negative, they are inserted at the
  ///     start.
  /// - Throws: `SQLiteError` if a statement fails.
  /// - Complexity: O(*n* + `index`) for *n* targets, if there is enough room between the neighbors.
  ///   Otherwise the whole list is read.
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

  /// Inserts targets between two neighbors. If there is no room, spreads out the surrounding links.
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

  /// Returns the links of a list, in order.
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

/// The rows to delete and insert to change a list with sparse positions into another list.
///
/// Links that are in both lists, in the same order, keep their rows. New links get positions in the
/// gaps. If a gap is full, its neighbors are spread out, but no more of them than necessary.
struct ListChange {
  /// The distance between the positions of neighbors in a new list.
  static let step: Int64 = 1 << 20

  /// A link of a list: its position, and the key of its target.
  struct Entry: Equatable {
    var position: Int64
    var target: Int64
  }

  /// The positions of the links to delete, in ascending order.
  private(set) var removed: [Int64] = []
  /// The links to insert, in ascending order. Some reuse positions of deleted links.
  private(set) var inserted: [Entry] = []

  /// Creates the change from a list to another one.
  ///
  /// - Parameters:
  ///   - present: The current links, in order.
  ///   - targets: The targets of the new list.
  /// - Complexity: O(*n* log *n*) for *n* links between the common prefix and the common suffix.
  init(from present: [Entry], to targets: [Int64]) {
    let common = ListComparison(from: present.map(\.target), to: targets)
    self.init(from: present, to: Array(zip(targets, common.indexes)))
  }

  /// Creates the change from a list to another one, given the links that stay.
  ///
  /// - Parameters:
  ///   - present: The current links, in order.
  ///   - elements: The targets of the new list, each with the index of its link in `present`, or
  ///     nil for a new link. The indexes must be in ascending order.
  /// - Complexity: O(*n*).
  init(from present: [Entry], to elements: [(target: Int64, index: Int?)]) {
    let kept = elements.map { $0.index.map { present[$0].position } }
    var spacing = Spacing(kept)
    spacing.fill()
    // Both are in ascending order, so one pass finds the differences.
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
  /// Returns `count` ascending positions between two neighbors, at least `least` apart from each
  /// other and from the neighbors, or nil if there is no room for them. A neighbor that is nil
  /// stands for the start or the end of the list.
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

/// The positions of a list's links, in ascending order. Assigns the unknown ones, and moves
/// neighbors if there is no room between them.
private struct Spacing {
  /// The positions, or nil where no position is known yet.
  private(set) var positions: [Int64?]

  init(_ positions: [Int64?]) {
    self.positions = positions
  }

  /// Fills all gaps with positions, and spreads out neighbors where a gap is too small.
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

  /// Fills one gap, and returns the index after the last position that it has set.
  ///
  /// The larger the range that must be spread out, the more room is left between its positions. An
  /// insertion therefore moves O(log *n*) other links on average, for any pattern of insertions.
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

  /// Returns positions for a window, with a minimum distance from each other and from its
  /// neighbors, or nil if there is no room.
  private func fresh(for window: Range<Int>, least: Int64) -> [Int64]? {
    let before = window.lowerBound > 0 ? positions[window.lowerBound - 1] : nil
    let after = window.upperBound < positions.count ? positions[window.upperBound] : nil
    return ListChange.positions(window.count, between: before, and: after, apart: least)
  }
}
