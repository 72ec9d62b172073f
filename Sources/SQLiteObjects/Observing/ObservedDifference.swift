public import SQLiteCore
import SQLiteMapping

/// The objects of an observed query, with the differences from the previous result.
/// `ObservedResults.differences()` returns a sequence of these values.
public struct ObservedDifference<Object: MagicObject> {
  /// The objects, in the order of the query.
  public let objects: [Object]
  /// The z_index values of the objects, in the same order.
  public let identities: [Int]
  /// The difference between the previous and the current ``identities``. The first result inserts
  /// all objects. A moved object is a removal and an insertion that are associated with each other.
  public let difference: CollectionDifference<Int>
  /// The indexes in ``objects`` of the objects that were in the previous result and have changed
  /// since: in a property, in a link, in the content of an asset, or in an object that they
  /// reference.
  public let updated: [Int]
}

extension ObservedDifference: Sendable where Object: Sendable {}

extension ObservedResults {
  /// Returns the results with their differences from the previous result, for example to update a
  /// list on the screen.
  ///
  ///     for try await change in magic.observe(Person.ordered(by: .ascending(\.$name))).differences() {
  ///       list.apply(change.difference)
  ///       list.reload(at: change.updated)
  ///     }
  ///
  /// Objects are identified by their z_index. If your loop is slow, it receives one difference for
  /// several commits. As few objects as possible are reported as moved.
  ///
  /// - Returns: A sequence of results with differences. Its iterator throws the errors of the
  ///   fetches, and `SQLiteError` with `ResultCode.misuse` if the results aren't the objects of a
  ///   query: the results of ``Request/map(_:)`` and of a closure have no identities.
  /// - Complexity: O(*n* log *n* + *m*) for each result with *n* objects. *m* is the number of rows
  ///   and links of the objects and their related objects, in this result and the previous one.
  public func differences<Object: MagicObject>() -> ObservedResults<ObservedDifference<Object>>
  where Result == [Object] {
    with { reading in
      guard let list = reading.comparison as? ObservedList else {
        throw SQLiteError(.misuse, "only a query for objects can be observed as differences")
      }
      return ObservedDifference(
        objects: try reading.make(), identities: list.after.found.map { Int($0) },
        difference: list.difference, updated: list.updated)
    }
  }
}

/// A result of a query for objects, together with the previous result.
package struct ObservedList: Sendable {
  /// The previous result, or nil if there is none.
  let before: ResultFingerprint?
  package let after: ResultFingerprint

  /// The difference between the identities of the two results.
  var difference: CollectionDifference<Int> {
    ObservedList.difference(
      from: before?.found.map { Int($0) } ?? [], to: after.found.map { Int($0) })
  }

  /// The indexes in the current result of the objects that are in both results and have changed.
  var updated: [Int] {
    before.map { after.updated(since: $0) } ?? []
  }

  /// Returns the difference between two lists without duplicates.
  ///
  /// The elements that don't move are those of a longest increasing subsequence of the old
  /// positions, in the new order. Binary search finds it. The standard library's
  /// `difference(from:)` takes time and memory quadratic in the number of changes.
  ///
  /// - Complexity: O(*n* log *n*).
  package static func difference(from old: [Int], to new: [Int]) -> CollectionDifference<Int> {
    let oldPlaces = Dictionary(
      old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let newPlaces = Dictionary(
      new.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let staying = longestIncreasingSubsequence(of: new.map { oldPlaces[$0] })
    var stays = [Bool](repeating: false, count: old.count)
    var changes: [CollectionDifference<Int>.Change] = []
    for place in new.indices {
      let before = oldPlaces[new[place]]
      if staying[place], let before {
        stays[before] = true
      } else {
        changes.append(.insert(offset: place, element: new[place], associatedWith: before))
      }
    }
    for place in old.indices where !stays[place] {
      changes.append(
        .remove(offset: place, element: old[place], associatedWith: newPlaces[old[place]]))
    }
    // The initializer returns nil for invalid changes, such as two with the same offset.
    return CollectionDifference(changes) ?? new.difference(from: old)
  }

  /// Returns, for each element, whether it is part of one longest increasing subsequence of the
  /// numbers. The subsequence skips nil elements.
  private static func longestIncreasingSubsequence(of numbers: [Int?]) -> [Bool] {
    /// For each length, the index in `numbers` of the last element of the increasing subsequence of
    /// this length whose last element is the least.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      guard let number else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if let end = numbers[ends[middle]], end < number { low = middle + 1 } else { high = middle }
      }
      previous[place] = low > 0 ? ends[low - 1] : nil
      if low < ends.count { ends[low] = place } else { ends.append(place) }
    }
    var marks = [Bool](repeating: false, count: numbers.count)
    var next = ends.last
    while let place = next {
      marks[place] = true
      next = previous[place]
    }
    return marks
  }
}
