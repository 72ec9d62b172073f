import Synchronization

/// Conditions that are joined by one operator, in order.
///
/// A list that grows by one at each turn of a loop shares its memory with the ones before it, each of
/// which is a range of it: to append or to prepend is O(1), unless another list has grown from the same
/// one before.
package struct FilterList<Term: Sendable>: Sendable {
  package typealias Condition = FilterCondition<Term>

  private struct Content {
    /// Those before the middle, the nearest first.
    var front: [Condition] = []
    var back: [Condition]
  }

  private final class Storage: Sendable {
    let content: Mutex<Content>

    init(_ conditions: [Condition]) {
      content = Mutex(Content(back: conditions))
    }
  }

  private let storage: Storage
  private let frontCount: Int
  private let backCount: Int
  /// The depth of the deepest condition.
  private let innerDepth: Int

  /// Joins two conditions.
  init(_ first: Condition, _ second: Condition) {
    self.init([first, second], innerDepth: max(first.depth, second.depth))
  }

  private init(_ conditions: [Condition], innerDepth: Int) {
    self.init(Storage(conditions), 0, conditions.count, innerDepth)
  }

  private init(_ storage: Storage, _ frontCount: Int, _ backCount: Int, _ innerDepth: Int) {
    self.storage = storage
    self.frontCount = frontCount
    self.backCount = backCount
    self.innerDepth = innerDepth
  }

  /// The number of conditions, two or more.
  package var count: Int { frontCount + backCount }

  /// How many levels it takes, since conditions are joined two by two.
  var depth: Int { innerDepth + (Int.bitWidth - (count - 1).leadingZeroBitCount) }

  /// The conditions in order.
  ///
  /// - Complexity: O(*n*).
  package var conditions: [Condition] {
    storage.content.withLock { content in
      content.front.prefix(frontCount).reversed() + content.back.prefix(backCount)
    }
  }

  /// The list with one more at its end.
  func appending(_ condition: Condition) -> FilterList { appending([condition], condition.depth) }

  /// The list with one more at its beginning.
  func prepending(_ condition: Condition) -> FilterList {
    prepending([condition], condition.depth)
  }

  /// Both lists, in order.
  ///
  /// - Complexity: O(*n*) for the shorter one.
  func joined(_ other: FilterList) -> FilterList {
    count >= other.count
      ? appending(other.conditions, other.innerDepth)
      : other.prepending(conditions, innerDepth)
  }

  private func appending(_ new: [Condition], _ depth: Int) -> FilterList {
    let isShared = storage.content.withLock { content in
      guard content.back.count == backCount else { return false }
      content.back += new
      return true
    }
    let depth = max(innerDepth, depth)
    return isShared
      ? FilterList(storage, frontCount, backCount + new.count, depth)
      : FilterList(conditions + new, innerDepth: depth)
  }

  private func prepending(_ new: [Condition], _ depth: Int) -> FilterList {
    let isShared = storage.content.withLock { content in
      guard content.front.count == frontCount else { return false }
      content.front += new.reversed()
      return true
    }
    let depth = max(innerDepth, depth)
    return isShared
      ? FilterList(storage, frontCount + new.count, backCount, depth)
      : FilterList(new + conditions, innerDepth: depth)
  }
}
