import SQLiteCore
import SQLiteMapping
import Synchronization

/// An expression on an object, as a tree that becomes SQL with bound values.
///
/// Filters, calculated values, sort keys, groups and what is fetched are made of it. Conditions mean what they
/// mean in Swift: nil is a value like others to `==` and `!=`, and what is not true is false, so that its
/// negation is true. Texts are compared by their bytes.
///
/// A tree is never deeper than ``greatestDepth``: the functions that make nodes of nodes make a ``failure(_:)``
/// of what would be. So it is built, written and released without a deep stack.
enum QueryNode: Sendable {
  /// A bound value.
  case value(Value)
  /// A column, by the slots of the properties that lead to it; without any, the key. It is NULL where a
  /// relation on the way leads nowhere.
  case column([Int])
  /// The z_index of an object, as the store knows it; nil for one that was never saved.
  case object(ObjectStorage?, type: String)
  indirect case comparing(QueryNode, QueryComparison, QueryNode, depth: Int)
  indirect case calculation(QueryNode, QueryArithmetic, QueryNode, depth: Int)
  /// The value is one of some, of which none is NULL.
  indirect case isIn(QueryNode, [Value])
  /// SQL of this library around operands.
  case writing(QueryForm, [QueryNode], depth: Int)
  /// SQL of the user around operands: one piece more than operands.
  case literal([SQL], [QueryNode], depth: Int)
  /// The value after the first condition that holds: conditions and values in turn, and then the value if no
  /// condition holds.
  case choice(QueryNodeList)
  /// A question about the objects that a relation leads to.
  indirect case related(RelatedQuery, depth: Int)
  indirect case negation(QueryNode, depth: Int)
  /// All of them hold.
  case all(QueryNodeList)
  /// One of them holds.
  case any(QueryNodeList)
  /// An error to throw when the query is written.
  case failure(any Error)
}

// Nodes of nodes. What many operators call is not inlined: each would get a copy of a kilobyte.
extension QueryNode {
  // Two limits, since a sum of many operands is a deep tree, which is released by recursion, and a flat text.

  /// The greatest depth of a tree: each operand of a sum is one deeper, and a list by the logarithm of its length.
  /// SQLite's limit is 1000 levels of an expression, of which each level here takes two at most.
  static var greatestDepth: Int { 400 }

  /// The greatest number of expressions inside one another in SQL, of which a sum or a list of any length is one.
  /// More would overflow a stack of 384 KiB, where each takes up to 5 KiB in a debug build, and the stack
  /// of SQLite's parser, which has 100 entries in SQLite 3.40.
  static var greatestLevel: Int { 64 }

  /// The error of an expression with more levels than `limit`.
  static func isTooDeep(_ limit: Int) -> SQLiteError {
    SQLiteError(.tooBig, "a filter is nested more than \(limit) levels deep")
  }

  /// Whether it is an error to throw. A node made of it is that error, too.
  private var isFailure: Bool { if case .failure = self { true } else { false } }

  /// A node of operands, unless one of them is an error or it would be too deep.
  ///
  /// - Parameters:
  ///   - operands: The operands.
  ///   - levels: The number of levels that it adds.
  ///   - node: Makes the node of its depth.
  @inline(__always)
  private static func node(
    of operands: [QueryNode], levels: Int = 1, _ node: (_ depth: Int) -> QueryNode
  ) -> QueryNode {
    var depth = 0
    for operand in operands {
      if operand.isFailure { return operand }
      depth = max(depth, operand.depth)
    }
    depth += levels
    return depth > greatestDepth ? .failure(isTooDeep(greatestDepth)) : node(depth)
  }

  /// ``node(of:levels:_:)`` for a node of two, of which most filters consist: it makes no array.
  @inline(__always)
  private static func node(
    _ left: QueryNode, _ right: QueryNode, _ node: QueryNode
  ) -> QueryNode {
    if left.isFailure { return left }
    if right.isFailure { return right }
    return node.depth > greatestDepth ? .failure(isTooDeep(greatestDepth)) : node
  }

  /// Compares two values.
  @inline(never)
  static func comparison(
    _ left: QueryNode, _ comparison: QueryComparison, _ right: QueryNode
  ) -> QueryNode {
    let depth = max(left.depth, right.depth) + 1
    return node(left, right, .comparing(left, comparison, right, depth: depth))
  }

  /// Calculates. Numbers are not joined in another order, since sums of reals, and of integers that overflow,
  /// depend on it.
  static func arithmetic(
    _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode
  ) -> QueryNode {
    node(of: [left, right]) { .calculation(left, arithmetic, right, depth: $0) }
  }

  /// SQL of this library around operands.
  ///
  /// - Parameters:
  ///   - pieces: The text before, between and behind the operands, in parentheses unless it is a call.
  ///   - operands: The operands, one less than the pieces.
  ///   - mayBeNull: Whether the result may be NULL.
  ///   - isTruthValue: Whether the result is 0, 1 or NULL, and no other number.
  static func form(
    _ pieces: [String], _ operands: [QueryNode], mayBeNull: Bool = true, isTruthValue: Bool = false
  ) -> QueryNode {
    form(QueryForm(pieces, mayBeNull: mayBeNull, isTruthValue: isTruthValue), operands)
  }

  /// SQL of this library around operands.
  @inline(never)
  static func form(_ form: QueryForm, _ operands: [QueryNode]) -> QueryNode {
    node(of: operands) { .writing(form, operands, depth: $0) }
  }

  /// SQL of the user around operands.
  static func sql(_ pieces: [SQL], _ operands: [QueryNode] = []) -> QueryNode {
    if let failure = pieces.lazy.compactMap(\.failure).first { return .failure(failure) }
    do { try SQL.checkExpression(pieces) } catch { return .failure(error) }
    return node(of: operands) { .literal(pieces, operands, depth: $0) }
  }

  /// A question about the objects that a relation leads to.
  static func related(_ query: RelatedQuery) -> QueryNode {
    node(of: [query.filter, query.operand].compactMap(\.self), levels: 2) {
      .related(query, depth: $0)
    }
  }

  /// One value if a condition holds, and another one if not. A choice among the others is continued: in SQL inside
  /// one another, SQLite's parser takes some 25.
  static func choice(
    _ condition: QueryNode, _ value: QueryNode, _ other: QueryNode
  ) -> QueryNode {
    let list =
      if case .choice(let others) = other {
        others.prepending(value).prepending(condition)
      } else {
        QueryNodeList(value, other).prepending(condition)
      }
    return node(of: [condition, value, other, .choice(list)], levels: 0) { _ in .choice(list) }
  }

  /// True if both are.
  static func and(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
    joined(left, right, QueryNode.all) { if case .all(let list) = $0 { list } else { nil } }
  }

  /// True if one of them is.
  static func or(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
    joined(left, right, QueryNode.any) { if case .any(let list) = $0 { list } else { nil } }
  }

  /// Conditions in one list, which continues the lists that they are.
  @inline(never)
  private static func joined(
    _ left: QueryNode, _ right: QueryNode, _ node: (QueryNodeList) -> QueryNode,
    _ list: (QueryNode) -> QueryNodeList?
  ) -> QueryNode {
    let joined =
      switch (list(left), list(right)) {
      case (let one?, let other?): one.joined(other)
      case (let one?, nil): one.appending(right)
      case (nil, let other?): other.prepending(left)
      case (nil, nil): QueryNodeList(left, right)
      }
    return self.node(left, right, node(joined))
  }

  /// True if the other is not.
  @inline(never)
  static func not(_ operand: QueryNode) -> QueryNode {
    switch operand {
    // An index serves an equality, but not the negation of an inequality.
    case .comparing(let left, .notEqual, let right, _): comparison(left, .equal, right)
    case .comparing(let left, .equal, let right, _): comparison(left, .notEqual, right)
    default: node(of: [operand]) { .negation(operand, depth: $0) }
    }
  }

  /// True if a value is one of some.
  static func isIn(_ operand: QueryNode, _ list: some Sequence<QueryNode>) -> QueryNode {
    var (values, hasNil) = ([Value](), false)
    for node in list {
      guard case .value(let value) = node else { return node }
      if value.isNull { hasNil = true } else { values.append(value) }
    }
    let isIn = QueryNode.isIn(operand, values)
    return hasNil ? or(isIn, comparison(operand, .equal, .value(.null))) : isIn
  }

  /// Text that begins with another, by bytes: a range, so that an index serves.
  static func hasPrefix(_ operand: QueryNode, _ prefix: String) -> QueryNode {
    let start = comparison(operand, .greaterOrEqual, .value(.text(prefix)))
    guard let end = TextRange.end(ofPrefix: prefix) else { return start }
    return and(start, comparison(operand, .less, .value(.text(end))))
  }

  /// Text that contains another, by bytes.
  static func contains(_ operand: QueryNode, _ part: String) -> QueryNode {
    if part.isEmpty { return comparison(operand, .notEqual, .value(.null)) }
    return form(
      ["(instr(", ", ", ") > 0)"], [operand, .value(.text(part))], isTruthValue: true)
  }

  /// SQLite's LIKE, with its wildcards and its rule for the case of letters.
  static func like(_ operand: QueryNode, _ pattern: String) -> QueryNode {
    form(["(", " LIKE ", ")"], [operand, .value(.text(pattern))], isTruthValue: true)
  }

  /// Whether it binds less than the operators of values, and stands in parentheses among them.
  var isLoose: Bool {
    switch self {
    case .comparing, .isIn, .negation: true
    default: false
    }
  }

  /// The number of levels inside one another, this one among them.
  var depth: Int {
    switch self {
    case .value, .column, .object, .failure: 1
    case .isIn(let operand, _): operand.depth + 1
    case .comparing(_, _, _, let depth), .calculation(_, _, _, let depth),
      .writing(_, _, let depth), .literal(_, _, let depth), .related(_, let depth),
      .negation(_, let depth):
      depth
    case .all(let list), .any(let list), .choice(let list): list.depth
    }
  }

  /// Whether it depends on one row of the type's own table only.
  var isOfOneRow: Bool {
    switch self {
    case .column(let slots): slots.count <= 1
    case .literal, .related: false
    default: parts.allSatisfy(\.isOfOneRow)
    }
  }

  /// The nodes that it consists of.
  @inline(never)
  var parts: [QueryNode] {
    switch self {
    case .value, .column, .object, .failure: []
    case .comparing(let left, _, let right, _), .calculation(let left, _, let right, _):
      [left, right]
    case .isIn(let operand, _), .negation(let operand, _): [operand]
    case .writing(_, let operands, _), .literal(_, let operands, _): operands
    case .related(let query, _): [query.operand, query.filter].compactMap(\.self)
    case .all(let list), .any(let list), .choice(let list): list.conditions
    }
  }

  /// Whether the value may be NULL.
  var mayBeNull: Bool {
    switch self {
    case .value(let value): value.isNull
    case .object, .negation: false
    case .writing(let form, _, _): form.mayBeNull
    case .related(let query, _): query.answer.mayBeNull
    default: true
    }
  }

  /// Whether the value is 0, 1 or NULL, and no other number.
  var isTruthValue: Bool {
    switch self {
    case .comparing, .isIn, .all, .any, .negation: true
    case .writing(let form, _, _): form.isTruthValue
    case .related(let query, _): query.answer.isTruthValue
    default: false
    }
  }
}

// Nodes of what users write.
extension QueryNode {
  /// The column that a path leads to.
  init<Object: MagicObject>(_ path: KeyPath<Object, some MagicColumn>) {
    do {
      self = .column(try QueryNode.slots(path))
    } catch {
      self = .failure(error)
    }
  }

  /// The slots of the properties that a path leads through.
  static func slots<Object: MagicObject>(
    _ path: KeyPath<Object, some MagicColumn>
  ) throws(MagicError) -> [Int] {
    guard let slots = Prototype<Object>.slots(path) else {
      throw .unsuitableType(
        type: "\(Object.self)", reason: "\(path) leads to none of its properties")
    }
    return slots
  }

  /// The value as it is stored.
  init<Stored: Codable>(_ value: Stored) {
    do {
      self = .value(try Storage.stored(value))
    } catch {
      self = .failure(
        MagicError.unstorableValue(
          type: "\(Stored.self)", property: "a filter", reason: "\(error)"))
    }
  }

  /// An object that the store knows.
  init<Object: MagicObject>(object: Object) {
    let storage = PropertyCollector.firstCell(of: object)?.address?.storage
    self = .object(storage, type: "\(Object.self)")
  }
}

extension ObjectPlan {
  /// The slot of the property of this type that a path leads to.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if it leads to none, or through a relation.
  package func slot<Object: MagicObject>(
    of path: KeyPath<Object, some MagicColumn>
  ) throws(MagicError) -> Int {
    let slots = try QueryNode.slots(path)
    guard slots.count == 1 else {
      throw .unsuitableType(type: typeName, reason: "\(path) leads to another object")
    }
    return slots[0]
  }
}

/// SQL of this library around operands.
struct QueryForm: Sendable {
  /// The text before, between and behind the operands.
  let pieces: [String]
  /// Whether the result may be NULL.
  let mayBeNull: Bool
  /// Whether the result is 0, 1 or NULL, and no other number.
  let isTruthValue: Bool
  /// The result for no rows, if it is an aggregate and the result is NULL or a number.
  let resultOfNone: Value?
  /// The text around the results of parts of the rows that makes the result of all rows; nil if it does not follow
  /// from these.
  let combining: [String]?

  init(
    _ pieces: [String], mayBeNull: Bool = true, isTruthValue: Bool = false,
    ofNone resultOfNone: Value? = nil, combining: [String]? = nil
  ) {
    self.pieces = pieces
    self.mayBeNull = mayBeNull
    self.isTruthValue = isTruthValue
    self.resultOfNone = resultOfNone
    self.combining = combining
  }

  /// Whether a comparison with the result for no rows holds; nil if that is not known without the database.
  func holdsForNone(_ comparison: QueryComparison, _ value: Value) -> Bool? {
    switch (resultOfNone, value) {
    case (nil, _): nil
    case (.null, .null): comparison == .equal
    case (.null, _), (_, .null): comparison == .notEqual
    case (_, .integer(let number)): comparison.holds(0, number)
    case (_, .real(let number)): comparison.holds(0, number)
    default: nil
    }
  }
}

/// A condition or a calculation on related objects.
struct RelatedQuery: Sendable {
  /// The form of the answer.
  enum Answer: Sendable {
    /// Whether there is any.
    case exists
    /// An aggregate of them.
    case aggregate(QueryForm)

    fileprivate var mayBeNull: Bool {
      if case .aggregate(let form) = self { form.mayBeNull } else { false }
    }

    fileprivate var isTruthValue: Bool {
      if case .exists = self { true } else { false }
    }
  }

  /// The slots of the properties that lead to the objects, of which at least one leads to many.
  var route: [Int]
  var answer = Answer.exists
  /// The operand of the aggregate, on the objects; nil if it has none.
  var operand: QueryNode?
  /// The condition on the objects.
  var filter: QueryNode?
}

/// The operators that compare two values.
enum QueryComparison: String, Sendable {
  case equal = " = "
  case notEqual = " IS NOT "
  case less = " < "
  case lessOrEqual = " <= "
  case greater = " > "
  case greaterOrEqual = " >= "
}

extension QueryComparison {
  /// Whether it holds for two numbers.
  fileprivate func holds<Number: Comparable>(_ left: Number, _ right: Number) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }
}

/// The operators that calculate one number of two.
enum QueryArithmetic: String, Sendable {
  case sum = "+"
  case difference = "-"
  case product = "*"
  case quotient = "/"
  case remainder = "%"

  /// Whether it is a sum or a difference, which bind less than the others.
  var isSum: Bool { self == .sum || self == .difference }
}

/// Conditions that are joined by one operator, in order.
///
/// A list that grows by one at each turn of a loop shares its memory with the ones before it, each of
/// which is a range of it: to append or to prepend is O(1), unless another list has grown from the same
/// one before.
struct QueryNodeList: Sendable {
  private struct Content {
    /// Those before the middle, the nearest first.
    var front: [QueryNode] = []
    var back: [QueryNode]
  }

  private final class Storage: Sendable {
    let content: Mutex<Content>

    init(_ conditions: [QueryNode]) {
      content = Mutex(Content(back: conditions))
    }
  }

  private let storage: Storage
  private let frontCount: Int
  private let backCount: Int
  /// The depth of the deepest condition.
  private let innerDepth: Int

  /// Joins two conditions.
  init(_ first: QueryNode, _ second: QueryNode) {
    self.init([first, second], innerDepth: max(first.depth, second.depth))
  }

  private init(_ conditions: [QueryNode], innerDepth: Int) {
    self.init(Storage(conditions), 0, conditions.count, innerDepth)
  }

  private init(_ storage: Storage, _ frontCount: Int, _ backCount: Int, _ innerDepth: Int) {
    self.storage = storage
    self.frontCount = frontCount
    self.backCount = backCount
    self.innerDepth = innerDepth
  }

  /// The number of conditions, two or more.
  var count: Int { frontCount + backCount }

  /// The number of its levels, since conditions are joined two by two.
  var depth: Int { innerDepth + (Int.bitWidth - (count - 1).leadingZeroBitCount) }

  /// The conditions in order.
  ///
  /// - Complexity: O(*n*).
  var conditions: [QueryNode] {
    storage.content.withLock { content in
      content.front.prefix(frontCount).reversed() + content.back.prefix(backCount)
    }
  }

  /// The list with one more at its end.
  func appending(_ condition: QueryNode) -> QueryNodeList {
    appending([condition], condition.depth)
  }

  /// The list with one more at its beginning.
  func prepending(_ condition: QueryNode) -> QueryNodeList {
    prepending([condition], condition.depth)
  }

  /// Both lists, in order.
  ///
  /// - Complexity: O(*n*) for the shorter one.
  func joined(_ other: QueryNodeList) -> QueryNodeList {
    count >= other.count
      ? appending(other.conditions, other.innerDepth)
      : other.prepending(conditions, innerDepth)
  }

  private func appending(_ new: [QueryNode], _ depth: Int) -> QueryNodeList {
    let isShared = storage.content.withLock { content in
      guard content.back.count == backCount else { return false }
      content.back += new
      return true
    }
    let depth = max(innerDepth, depth)
    return isShared
      ? QueryNodeList(storage, frontCount, backCount + new.count, depth)
      : QueryNodeList(conditions + new, innerDepth: depth)
  }

  private func prepending(_ new: [QueryNode], _ depth: Int) -> QueryNodeList {
    let isShared = storage.content.withLock { content in
      guard content.front.count == frontCount else { return false }
      content.front += new.reversed()
      return true
    }
    let depth = max(innerDepth, depth)
    return isShared
      ? QueryNodeList(storage, frontCount + new.count, backCount, depth)
      : QueryNodeList(new + conditions, innerDepth: depth)
  }
}

/// Ranges of texts in the order of their bytes.
enum TextRange {
  /// The least text that is greater than all that begin with `prefix`, if there is one.
  static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // There is no scalar between the last one below the surrogates and the first one above them.
      let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
    return nil
  }
}
