/// Two changes of one list, merged: mine, and those that others have made meanwhile.
///
/// Additions of either side stay, and removals of either side win, even if the other side has moved the
/// element. My additions come in front of the next element that neither side has moved, so that those
/// of others in the same gap come first, in the order of the commits.
///
/// An element that is removed at one index of the list and added at another has moved. Of equal elements the
/// first that leaves is taken for the first that comes.
///
/// The edits of a lazy collection need no merge: they are made to the list as it is in the store then.
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
