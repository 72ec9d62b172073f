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
