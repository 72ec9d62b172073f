import SQLiteCore

/// The fewest rows to write so that a list at sparse positions becomes another, as far as a common
/// beginning and a common end tell.
struct ListChange {
  /// The distance between neighbours in a fresh list.
  static let step: Int64 = 1 << 20

  /// Positions whose links go.
  private(set) var removed: [Int64] = []
  /// Links that come.
  private(set) var inserted: [(position: Int64, target: Int64)] = []

  /// Compares.
  ///
  /// - Parameters:
  ///   - present: The links as they are, in order.
  ///   - targets: The targets as they shall be.
  init(from present: [Link], to targets: [Int64]) {
    let positions = present.map { link in
      if case .integer(let position) = link.place { position } else { Int64(0) }
    }
    var start = 0
    while start < min(present.count, targets.count), present[start].target == targets[start] {
      start += 1
    }
    var end = 0
    while end < min(present.count, targets.count) - start,
      present[present.count - 1 - end].target == targets[targets.count - 1 - end]
    {
      end += 1
    }
    let new = targets[start..<(targets.count - end)]
    let before = start > 0 ? positions[start - 1] : nil
    let after = end > 0 ? positions[present.count - end] : nil
    if let places = ListChange.places(for: new.count, between: before, and: after) {
      removed = Array(positions[start..<(present.count - end)])
      inserted = Array(zip(places, new))
    } else {
      // No gap is left: everything gets a fresh place.
      removed = positions
      inserted = targets.enumerated().map { (Int64($0.offset) * ListChange.step, $0.element) }
    }
  }

  /// Positions in ascending order between two neighbours, or nil if there are too few.
  private static func places(
    for count: Int, between before: Int64?, and after: Int64?
  ) -> [Int64]? {
    let count = Int64(count)
    switch (before, after) {
    case (nil, nil): return (0..<count).map { $0 * step }
    case (let before?, nil):
      guard before < .max - (count + 1) * step else { return nil }
      return (1...max(1, count)).prefix(Int(count)).map { before + $0 * step }
    case (nil, let after?):
      guard after > .min + (count + 1) * step else { return nil }
      return (0..<count).map { after - (count - $0) * step }
    case (let before?, let after?):
      let gap = (after - before) / (count + 1)
      guard gap > 0 else { return nil }
      return (0..<count).map { before + ($0 + 1) * gap }
    }
  }
}
