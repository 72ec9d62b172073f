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
