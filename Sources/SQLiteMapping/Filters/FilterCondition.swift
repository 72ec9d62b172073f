package import SQLiteCore
import Synchronization

/// A condition on a row, as a tree that becomes SQL with bound values.
///
/// Conditions mean what they mean in Swift: nil is a value like others to `==` and `!=`, and what is
/// not true is false, so that its negation is true. Texts are compared by their bytes.
///
/// A tree is never deeper than ``FilterDepth/greatest``: ``and(_:_:)``, ``or(_:_:)``, ``not(_:)`` and
/// ``term(_:around:)`` make ``tooDeep`` of what would be. So it is built, written and released without
/// a deep stack.
package indirect enum FilterCondition<Term: Sendable>: Sendable {
  package typealias Operand = FilterOperand<Term>

  case comparison(Operand, FilterComparison, Operand)
  case isIn(Operand, [Operand])
  /// Text that begins with another, by bytes.
  case hasPrefix(Operand, String)
  /// Text that contains another, by bytes.
  case contains(Operand, String)
  /// SQLite's LIKE, with its wildcards and its rule for the case of letters.
  case like(Operand, String)
  /// A condition that the types above have a name for.
  case term(Term)
  /// As `term`, with conditions in it.
  case nested(Term, depth: Int)
  case sql(SQL)
  case negation(FilterCondition, depth: Int)
  /// All of them hold.
  case all(FilterList<Term>)
  /// One of them holds.
  case any(FilterList<Term>)
  /// It was nested too deep.
  case tooDeep

  /// True if both are.
  package static func and(_ left: FilterCondition, _ right: FilterCondition) -> FilterCondition {
    let list: FilterList<Term>
    switch (left, right) {
    case (.all(let one), .all(let other)): list = one.joined(other)
    case (.all(let one), _): list = one.appending(right)
    case (_, .all(let other)): list = other.prepending(left)
    default: list = FilterList(left, right)
    }
    return list.depth > FilterDepth.greatest ? .tooDeep : .all(list)
  }

  /// True if one of them is.
  package static func or(_ left: FilterCondition, _ right: FilterCondition) -> FilterCondition {
    let list: FilterList<Term>
    switch (left, right) {
    case (.any(let one), .any(let other)): list = one.joined(other)
    case (.any(let one), _): list = one.appending(right)
    case (_, .any(let other)): list = other.prepending(left)
    default: list = FilterList(left, right)
    }
    return list.depth > FilterDepth.greatest ? .tooDeep : .any(list)
  }

  /// True if the other is not.
  package static func not(_ operand: FilterCondition) -> FilterCondition {
    let depth = operand.depth + 1
    return depth > FilterDepth.greatest ? .tooDeep : .negation(operand, depth: depth)
  }

  /// A term with a condition in it.
  package static func term(_ term: Term, around inner: FilterCondition) -> FilterCondition {
    let depth = inner.depth + 2
    return depth > FilterDepth.greatest ? .tooDeep : .nested(term, depth: depth)
  }

  /// The number of levels inside one another, this one among them.
  var depth: Int {
    switch self {
    case .comparison(let left, _, let right): max(left.depth, right.depth) + 1
    case .isIn(let operand, _), .hasPrefix(let operand, _), .contains(let operand, _),
      .like(let operand, _):
      operand.depth + 1
    case .term, .sql: 1
    case .nested(_, let depth), .negation(_, let depth): depth
    case .all(let list), .any(let list): list.depth
    case .tooDeep: FilterDepth.greatest
    }
  }
}

/// The limit of nested filters.
package enum FilterDepth {
  /// SQLite's limit is 1000 levels of an expression, of which each level here takes two at most.
  package static var greatest: Int { 400 }

  /// The error of a filter that is nested too deep.
  static var error: SQLiteError {
    SQLiteError(.tooBig, "a filter is nested more than \(greatest) levels deep")
  }
}

/// The operators that compare two values.
package enum FilterComparison: Sendable {
  case equal
  case notEqual
  case less
  case lessOrEqual
  case greater
  case greaterOrEqual
}

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

  /// The number of its levels, since conditions are joined two by two.
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

/// An operand of a filter. A term is a name that the layer above gives to a column or to a value.
package indirect enum FilterOperand<Term: Sendable>: Sendable {
  /// A column, which may be NULL.
  case column(Term)
  /// Something that is never NULL.
  case known(Term)
  case value(Value)
  case calculation(FilterOperand, FilterArithmetic, FilterOperand, depth: Int)
  /// It was nested too deep.
  case tooDeep

  /// Calculates. What would be deeper than ``FilterDepth/greatest`` becomes ``tooDeep``: numbers are not
  /// joined in another order, since sums of reals, and of integers that overflow, depend on it.
  package static func arithmetic(
    _ left: FilterOperand, _ arithmetic: FilterArithmetic, _ right: FilterOperand
  ) -> FilterOperand {
    let depth = max(left.depth, right.depth) + 1
    return depth > FilterDepth.greatest
      ? .tooDeep : .calculation(left, arithmetic, right, depth: depth)
  }

  /// The number of levels inside one another, this one among them.
  var depth: Int {
    switch self {
    case .column, .known, .value: 1
    case .calculation(_, _, _, let depth): depth
    case .tooDeep: FilterDepth.greatest
    }
  }
}

/// The operators that calculate one number of two.
package enum FilterArithmetic: String, Sendable {
  case sum = "+"
  case difference = "-"
  case product = "*"
  case quotient = "/"
  case remainder = "%"

  /// Whether it is a sum or a difference, which bind less than the others.
  var isSum: Bool { self == .sum || self == .difference }
}
