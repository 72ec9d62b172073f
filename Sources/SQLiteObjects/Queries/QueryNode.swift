import SQLiteCore
import SQLiteMapping
import Synchronization

/// An expression on an object, as a tree that is written as SQL with bound values.
///
/// Filters, expressions, sort keys, groups and result columns consist of nodes. Conditions have the
/// meaning that they have in Swift: `==` and `!=` treat nil like any other value. A condition that
/// isn't true is false, so its negation is true. Strings are compared by their bytes.
///
/// A tree is never deeper than ``greatestDepth``: a function that combines nodes returns a
/// ``failure(_:)`` if the result would be deeper. So trees can be built, written and released
/// without a deep stack.
enum QueryNode: Sendable {
  /// A value that is bound to a parameter.
  case value(Value)
  /// A column, as the slots of the properties on its path. Without slots, it is the key of the row.
  /// It is NULL if a relation on the path is nil.
  case column([Int])
  /// The z_index of an object in the store. The storage is nil if the object was never saved.
  case object(ObjectStorage?, type: String)
  indirect case comparing(QueryNode, QueryComparison, QueryNode, depth: Int)
  indirect case calculation(QueryNode, QueryArithmetic, QueryNode, depth: Int)
  /// A test of whether a value is in a list that doesn't contain NULL.
  indirect case isIn(QueryNode, [Value])
  /// SQL of this library with operands.
  case librarySQL(QueryForm, [QueryNode], depth: Int)
  /// SQL of the user with operands. There is one more piece of SQL than operands.
  case literal([SQL], [QueryNode], depth: Int)
  /// The value that follows the first true condition. The list alternates conditions and values,
  /// and ends with the value for the case that no condition is true.
  case choice(QueryNodeList)
  /// A condition or a calculation on related objects.
  indirect case related(RelatedQuery, depth: Int)
  indirect case negation(QueryNode, depth: Int)
  /// A condition that is true if all conditions in the list are true.
  case all(QueryNodeList)
  /// A condition that is true if at least one condition in the list is true.
  case any(QueryNodeList)
  /// An error in the expression, such as a value that can't be stored. It is thrown when the
  /// expression is written as SQL.
  case failure(any Error)
}

// Combinations of nodes. Functions that many operators call aren't inlined: each call would copy a
// kilobyte of code.
extension QueryNode {
  // There are two limits, because a sum of many operands is a deep tree, which is released
  // recursively, but flat SQL.

  /// The maximum depth of a tree. Each operand of a sum adds a level, and a list adds the binary
  /// logarithm of its length. SQLite allows expressions with 1000 levels, and a level of a tree
  /// takes at most two of them.
  static var greatestDepth: Int { 400 }

  /// The maximum number of nested expressions in SQL. A sum or a list counts as one, whatever its
  /// length.
  ///
  /// More levels would overflow a stack of 384 KiB, because each takes up to 5 KiB in a debug
  /// build. They would also overflow the stack of SQLite's parser, which has 100 entries in SQLite
  /// 3.40.
  static var greatestLevel: Int { 64 }

  /// Returns the error for an expression with more than `limit` levels.
  static func isTooDeep(_ limit: Int) -> SQLiteError {
    SQLiteError(.tooBig, "a filter is nested more than \(limit) levels deep")
  }

  /// Whether the node is an error. A node with such an operand becomes the same error.
  private var isFailure: Bool { if case .failure = self { true } else { false } }

  /// Returns a node with operands. Returns a failure if an operand is one, or if the node would be
  /// too deep.
  ///
  /// - Parameters:
  ///   - operands: The operands.
  ///   - levels: The number of levels that the node adds to its operands.
  ///   - node: Creates the node with its depth.
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

  /// A variant of ``node(of:levels:_:)`` for two operands, which creates no array. Most nodes of
  /// filters have two operands.
  @inline(__always)
  private static func node(
    _ left: QueryNode, _ right: QueryNode, _ node: QueryNode
  ) -> QueryNode {
    if left.isFailure { return left }
    if right.isFailure { return right }
    return node.depth > greatestDepth ? .failure(isTooDeep(greatestDepth)) : node
  }

  /// Returns a node for the comparison of two values.
  @inline(never)
  static func comparison(
    _ left: QueryNode, _ comparison: QueryComparison, _ right: QueryNode
  ) -> QueryNode {
    let depth = max(left.depth, right.depth) + 1
    return node(left, right, .comparing(left, comparison, right, depth: depth))
  }

  /// Returns a node for an arithmetic operation on two values. Operands are never reordered,
  /// because the order affects sums of real numbers and of integers that overflow.
  static func arithmetic(
    _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode
  ) -> QueryNode {
    node(of: [left, right]) { .calculation(left, arithmetic, right, depth: $0) }
  }

  /// Returns a node for SQL of this library with operands.
  ///
  /// - Parameters:
  ///   - pieces: The SQL before, between and after the operands. It must be in parentheses, unless
  ///     it is a function call.
  ///   - operands: The operands, one fewer than the pieces.
  ///   - mayBeNull: Whether the result may be NULL.
  ///   - isTruthValue: Whether the result is always 0, 1 or NULL.
  static func form(
    _ pieces: [String], _ operands: [QueryNode], mayBeNull: Bool = true, isTruthValue: Bool = false
  ) -> QueryNode {
    form(QueryForm(pieces, mayBeNull: mayBeNull, isTruthValue: isTruthValue), operands)
  }

  /// Returns a node for SQL of this library with operands.
  @inline(never)
  static func form(_ form: QueryForm, _ operands: [QueryNode]) -> QueryNode {
    node(of: operands) { .librarySQL(form, operands, depth: $0) }
  }

  /// Returns a node for SQL of the user with operands. Returns a failure if the SQL isn't a
  /// complete expression.
  static func sql(_ pieces: [SQL], _ operands: [QueryNode] = []) -> QueryNode {
    if let failure = pieces.lazy.compactMap(\.failure).first { return .failure(failure) }
    do { try SQL.checkExpression(pieces) } catch { return .failure(error) }
    return node(of: operands) { .literal(pieces, operands, depth: $0) }
  }

  /// Returns a node for a condition or a calculation on related objects.
  static func related(_ query: RelatedQuery) -> QueryNode {
    node(of: [query.filter, query.operand].compactMap(\.self), levels: 2) {
      .related(query, depth: $0)
    }
  }

  /// Returns a node for one value if a condition is true, and another value if it isn't. If the
  /// other value is itself a choice, its branches are appended instead of nested, because SQLite's
  /// parser allows only about 25 nested choices.
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

  /// Returns a node that is true if both conditions are true.
  static func and(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
    joined(left, right, QueryNode.all) { if case .all(let list) = $0 { list } else { nil } }
  }

  /// Returns a node that is true if at least one of two conditions is true.
  static func or(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
    joined(left, right, QueryNode.any) { if case .any(let list) = $0 { list } else { nil } }
  }

  /// Joins two conditions in one list. If a condition is itself a list with the same operator, the
  /// list is extended.
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

  /// Returns a node that is true if a condition isn't true.
  @inline(never)
  static func not(_ operand: QueryNode) -> QueryNode {
    switch operand {
    // SQLite can use an index for an equality, but not for a negated inequality.
    case .comparing(let left, .notEqual, let right, _): comparison(left, .equal, right)
    case .comparing(let left, .equal, let right, _): comparison(left, .notEqual, right)
    default: node(of: [operand]) { .negation(operand, depth: $0) }
    }
  }

  /// Returns a node that is true if a value is in a list. The list may contain NULL.
  static func isIn(_ operand: QueryNode, _ list: some Sequence<QueryNode>) -> QueryNode {
    var (values, hasNil) = ([Value](), false)
    for node in list {
      guard case .value(let value) = node else { return node }
      if value.isNull { hasNil = true } else { values.append(value) }
    }
    let isIn = QueryNode.isIn(operand, values)
    return hasNil ? or(isIn, comparison(operand, .equal, .value(.null))) : isIn
  }

  /// Returns a node that is true if a text has a prefix, compared by bytes. The SQL compares with a
  /// range, so that SQLite can use an index.
  static func hasPrefix(_ operand: QueryNode, _ prefix: String) -> QueryNode {
    let start = comparison(operand, .greaterOrEqual, .value(.text(prefix)))
    guard let end = TextRange.end(ofPrefix: prefix) else { return start }
    return and(start, comparison(operand, .less, .value(.text(end))))
  }

  /// Returns a node that is true if a text contains another text, compared by bytes.
  static func contains(_ operand: QueryNode, _ part: String) -> QueryNode {
    if part.isEmpty { return comparison(operand, .notEqual, .value(.null)) }
    return form(
      ["(instr(", ", ", ") > 0)"], [operand, .value(.text(part))], isTruthValue: true)
  }

  /// Returns a node that is true if a text matches a pattern of SQLite's `LIKE`.
  static func like(_ operand: QueryNode, _ pattern: String) -> QueryNode {
    form(["(", " LIKE ", ")"], [operand, .value(.text(pattern))], isTruthValue: true)
  }

  /// Whether the node has lower precedence than operators on values, and needs parentheses as an
  /// operand.
  var needsParentheses: Bool {
    switch self {
    case .comparing, .isIn, .negation: true
    default: false
    }
  }

  /// The number of levels of the tree, including this node.
  var depth: Int {
    switch self {
    case .value, .column, .object, .failure: 1
    case .isIn(let operand, _): operand.depth + 1
    case .comparing(_, _, _, let depth), .calculation(_, _, _, let depth),
      .librarySQL(_, _, let depth), .literal(_, _, let depth), .related(_, let depth),
      .negation(_, let depth):
      depth
    case .all(let list), .any(let list), .choice(let list): list.depth
    }
  }

  /// Whether the node is known to read only the row of the object itself. SQL of the user may read
  /// other rows.
  var readsOwnRowOnly: Bool {
    switch self {
    case .column(let slots): slots.count <= 1
    case .literal, .related: false
    default: parts.allSatisfy(\.readsOwnRowOnly)
    }
  }

  /// The operands of the node, the nodes of its list, or the operand and filter of its query of
  /// related objects. Empty for all other nodes, such as a value or a column.
  @inline(never)
  var parts: [QueryNode] {
    switch self {
    case .value, .column, .object, .failure: []
    case .comparing(let left, _, let right, _), .calculation(let left, _, let right, _):
      [left, right]
    case .isIn(let operand, _), .negation(let operand, _): [operand]
    case .librarySQL(_, let operands, _), .literal(_, let operands, _): operands
    case .related(let query, _): [query.operand, query.filter].compactMap(\.self)
    case .all(let list), .any(let list), .choice(let list): list.conditions
    }
  }

  /// Whether the value may be NULL.
  var mayBeNull: Bool {
    switch self {
    case .value(let value): value.isNull
    case .object, .negation: false
    case .librarySQL(let form, _, _): form.mayBeNull
    case .related(let query, _): query.answer.mayBeNull
    default: true
    }
  }

  /// Whether the value is always 0, 1 or NULL.
  var isTruthValue: Bool {
    switch self {
    case .comparing, .isIn, .all, .any, .negation: true
    case .librarySQL(let form, _, _): form.isTruthValue
    case .related(let query, _): query.answer.isTruthValue
    default: false
    }
  }
}

// Nodes for key paths, values and objects.
extension QueryNode {
  /// Creates a node for the column that a key path references, or a failure if it references none.
  init<Object: MagicObject>(_ path: KeyPath<Object, some MagicColumn>) {
    do {
      self = .column(try QueryNode.slots(path))
    } catch {
      self = .failure(error)
    }
  }

  /// Returns the slots of the properties on a key path.
  static func slots<Object: MagicObject>(
    _ path: KeyPath<Object, some MagicColumn>
  ) throws(MagicError) -> [Int] {
    guard let slots = KeyPathSlots<Object>.slots(path) else {
      throw .unsuitableType(
        type: "\(Object.self)", reason: "\(path) is not one of its properties")
    }
    return slots
  }

  /// Creates a node for a value in its stored form, or a failure if it can't be stored.
  init<Stored: Codable>(_ value: Stored) {
    do {
      self = .value(try ColumnStorage.stored(value))
    } catch {
      self = .failure(
        MagicError.unstorableValue(
          type: "\(Stored.self)", property: "a filter", reason: "\(error)"))
    }
  }

  /// Creates a node for the key of an object.
  init<Object: MagicObject>(object: Object) {
    let storage = PropertyCollector.firstCell(of: object)?.address?.storage
    self = .object(storage, type: "\(Object.self)")
  }
}

extension ObjectPlan {
  /// Returns the slot of a property of this type.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the path isn't a property of this
  ///   type, or accesses a related object.
  package func slot<Object: MagicObject>(
    of path: KeyPath<Object, some MagicColumn>
  ) throws(MagicError) -> Int {
    let slots = try QueryNode.slots(path)
    guard slots.count == 1 else {
      throw .unsuitableType(type: typeName, reason: "\(path) is a property of a related object")
    }
    return slots[0]
  }
}

/// An operator or a function in SQL of this library, as the pieces of SQL around its operands.
struct QueryForm: Sendable {
  /// The SQL before, between and after the operands.
  let pieces: [String]
  /// Whether the result may be NULL.
  let mayBeNull: Bool
  /// Whether the result is always 0, 1 or NULL.
  let isTruthValue: Bool
  /// The result for no rows, if the SQL is an aggregate and this result is NULL or the number zero.
  /// Nil for all other SQL, and for sums of decimals, whose zero is a text.
  let resultForNoRows: Value?
  /// The SQL of the aggregate that combines the results for parts of the rows into the result for
  /// all rows. Nil if the partial results don't determine the total one.
  let combining: [String]?

  init(
    _ pieces: [String], mayBeNull: Bool = true, isTruthValue: Bool = false,
    forNoRows resultForNoRows: Value? = nil, combining: [String]? = nil
  ) {
    self.pieces = pieces
    self.mayBeNull = mayBeNull
    self.isTruthValue = isTruthValue
    self.resultForNoRows = resultForNoRows
    self.combining = combining
  }

  /// Returns whether the result for no rows satisfies a comparison with a value, or nil if only the
  /// database can determine that.
  func holdsForNoRows(_ comparison: QueryComparison, _ value: Value) -> Bool? {
    switch (resultForNoRows, value) {
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
  /// The kind of result that the query computes from the related objects.
  enum Answer: Sendable {
    /// A Boolean that is true if a matching related object exists.
    case exists
    /// An aggregate of the related objects.
    case aggregate(QueryForm)

    fileprivate var mayBeNull: Bool {
      if case .aggregate(let form) = self { form.mayBeNull } else { false }
    }

    fileprivate var isTruthValue: Bool {
      if case .exists = self { true } else { false }
    }
  }

  /// The slots of the relation properties on the path from the object to the related objects. At
  /// least one of them is to-many.
  var route: [Int]
  var answer = Answer.exists
  /// The operand of the aggregate, evaluated on the related objects; nil if the aggregate has no
  /// operand.
  var operand: QueryNode?
  /// The condition on the related objects; nil to include all.
  var filter: QueryNode?
}

/// An operator that compares two values. The raw value is its SQL.
enum QueryComparison: String, Sendable {
  case equal = " = "
  case notEqual = " IS NOT "
  case less = " < "
  case lessOrEqual = " <= "
  case greater = " > "
  case greaterOrEqual = " >= "
}

extension QueryComparison {
  /// Returns whether the comparison of two numbers is true.
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

/// An arithmetic operator with two operands. The raw value is its SQL.
enum QueryArithmetic: String, Sendable {
  case sum = "+"
  case difference = "-"
  case product = "*"
  case quotient = "/"
  case remainder = "%"

  /// Whether it is `+` or `-`, which have lower precedence than the other operators.
  var isSum: Bool { self == .sum || self == .difference }
}

/// An ordered list of nodes: the operands of `AND` or `OR`, or the conditions and values of a
/// choice.
///
/// A list that is extended repeatedly, as in a loop, shares its memory with the lists that it was
/// created from: each of them is a range of the same content. So appending and prepending are O(1),
/// unless another list has already been extended at the same end of the shared content.
struct QueryNodeList: Sendable {
  private struct Content {
    /// The prepended nodes. The node that was prepended last is the last element, so that
    /// prepending doesn't move the others.
    var front: [QueryNode] = []
    var back: [QueryNode]
  }

  private final class Buffer: Sendable {
    let content: Mutex<Content>

    init(_ conditions: [QueryNode]) {
      content = Mutex(Content(back: conditions))
    }
  }

  private let storage: Buffer
  private let frontCount: Int
  private let backCount: Int
  /// The depth of the deepest node in the list.
  private let innerDepth: Int

  /// Creates a list of two nodes.
  init(_ first: QueryNode, _ second: QueryNode) {
    self.init([first, second], innerDepth: max(first.depth, second.depth))
  }

  private init(_ conditions: [QueryNode], innerDepth: Int) {
    self.init(Buffer(conditions), 0, conditions.count, innerDepth)
  }

  private init(_ storage: Buffer, _ frontCount: Int, _ backCount: Int, _ innerDepth: Int) {
    self.storage = storage
    self.frontCount = frontCount
    self.backCount = backCount
    self.innerDepth = innerDepth
  }

  /// The number of nodes, at least two.
  var count: Int { frontCount + backCount }

  /// The depth of the list as a balanced binary tree.
  var depth: Int { innerDepth + (Int.bitWidth - (count - 1).leadingZeroBitCount) }

  /// The nodes in order.
  ///
  /// - Complexity: O(*n*).
  var conditions: [QueryNode] {
    storage.content.withLock { content in
      content.front.prefix(frontCount).reversed() + content.back.prefix(backCount)
    }
  }

  /// Returns the list with a node appended.
  func appending(_ condition: QueryNode) -> QueryNodeList {
    appending([condition], condition.depth)
  }

  /// Returns the list with a node prepended.
  func prepending(_ condition: QueryNode) -> QueryNodeList {
    prepending([condition], condition.depth)
  }

  /// Returns the concatenation with another list.
  ///
  /// - Complexity: O(*n*) in the length of the shorter list. If the longer list can't share its
  ///   memory with the result, O(*n*) in the length of both.
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

/// A namespace for computing ranges of texts in byte order.
enum TextRange {
  /// Returns the least text that is greater than all texts with a prefix, or nil if no such text
  /// exists.
  static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates aren't scalars, so the next scalar after U+D7FF is U+E000.
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
