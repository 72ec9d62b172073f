/// A three-way merge of two changes of the same list: mine, and the concurrent changes of others.
///
/// The merged list contains the additions of both sides. Removals of either side win, even if the
/// other side has moved the element. My additions come directly before the next element that
/// neither side has moved. If others have added elements at the same place, theirs come first, in
/// the order of the commits.
///
/// An element that is removed at one index and added at another has moved. Among equal elements,
/// the first removed one is paired with the first added one.
///
/// The edits of a lazy collection need no merge, because a save applies them to the current list in
/// the store.
struct ListMerge {
  /// The targets of the merged list, each with its index in the list of the others, or nil for an
  /// element that my change has added or moved.
  private(set) var elements: [(target: Int64, index: Int?)] = []

  /// Creates the list that contains my change and the concurrent changes of others.
  ///
  /// - Parameters:
  ///   - base: The list before my change.
  ///   - mine: The list after my change.
  ///   - others: The current list, with the changes of others.
  /// - Complexity: O(*n* log *n*), or O(*n*) if `others` is equal to `base`.
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
    // The index of each base element in the list of the others.
    var indexes = unmoved
    for (old, new) in theirs.moves(from: base, to: others) { indexes[old] = new }

    var isRemoved = [Bool](repeating: false, count: others.count)
    for old in kept.removedIndexes(base) {
      if let index = indexes[old] { isRemoved[index] = true }
    }
    let moved = Dictionary(
      kept.moves(from: base, to: mine).map { ($0.new, $0.old) }, uniquingKeysWith: { $1 })
    // From the end: each addition comes before the next element that neither side has moved.
    var additions: [(target: Int64, next: Int)] = []
    var next = others.count
    for (new, old) in kept.indexes.enumerated().reversed() {
      if let old {
        next = unmoved[old] ?? next
      } else if let old = moved[new], indexes[old] == nil {
        // I have only moved the element, and others have removed it.
        continue
      } else {
        additions.append((mine[new], next))
      }
    }
    for index in 0...others.count {
      while let last = additions.last, last.next == index {
        elements.append((last.target, nil))
        additions.removeLast()
      }
      if index < others.count, !isRemoved[index] { elements.append((others[index], index)) }
    }
  }
}

extension ListComparison {
  /// Returns the indexes of the old elements that don't stay in place, in ascending order.
  fileprivate func removedIndexes(_ old: [Int64]) -> [Int] {
    var isStaying = [Bool](repeating: false, count: old.count)
    for case let index? in indexes { isStaying[index] = true }
    return old.indices.filter { !isStaying[$0] }
  }

  /// Returns the old and the new index of each element that was removed at one index and added at
  /// another, that is, moved.
  fileprivate func moves(from old: [Int64], to new: [Int64]) -> [(old: Int, new: Int)] {
    let removedIndexes = removedIndexes(old)
    guard !removedIndexes.isEmpty else { return [] }
    var occurrences: [Int64: ArraySlice<Int>] = [:]
    for index in removedIndexes { occurrences[old[index], default: []].append(index) }
    return new.indices.compactMap { index in
      guard indexes[index] == nil else { return nil }
      return occurrences[new[index]]?.popFirst().map { ($0, index) }
    }
  }
}
