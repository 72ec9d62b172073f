import SQLSyntax

extension TreeSource {
  /// Returns an operand, parenthesized if all operands are.
  mutating func operand() -> SQLExpression {
    let made = deeper { $0.expression() }
    return parenthesizes ? SQLExpression(.parenthesized(made)) : made
  }

  /// Returns an operand that doesn't end with COLLATE, because consecutive COLLATE operators form
  /// one list.
  private mutating func operandOfCollate() -> SQLExpression {
    let made = operand()
    if case .collate(let inner, _) = made.node { return inner }
    if case .parenthesized(let inside) = made.node, case .collate(let inner, _) = inside.node {
      return SQLExpression(.parenthesized(inner))
    }
    return made
  }

  mutating func expression() -> SQLExpression { SQLExpression(node()) }

  private mutating func node() -> SQLExpression.Node {
    if levels <= 0 { return leaf() }
    switch below(26) {
    case 0, 1, 2, 3: return leaf()
    case 4, 5: return .unary(pick(SQLUnaryOperator.self), operand())
    case 6, 7, 8, 9, 10, 11:
      let left = operand()
      return .binary(left, pick(SQLBinaryOperator.self), operand())
    case 12:
      let left = operand()
      // SQLite has no functions for MATCH and REGEXP by default.
      let operation: SQLLike.Operator =
        once(in: 40) ? pick([.regexp, .match]) : pick([.like, .glob])
      let isNegated = once(in: 2)
      let pattern = operand()
      let escape = operation == .like ? maybe(in: 4) { $0.operand() } : nil
      return .like(
        left, SQLLike(operation, isNegated: isNegated, pattern: pattern, escape: escape))
    case 13, 14:
      let (value, isNegated) = (operand(), once(in: 2))
      let low = operand()
      return .between(value, isNegated: isNegated, low: low, high: operand())
    case 15, 16:
      let (value, isNegated) = (operand(), once(in: 2))
      return .in(value, isNegated: isNegated, deeper { $0.inSet() })
    case 17: return .isNull(operand())
    case 18: return .notNull(operand(), isOneWord: once(in: 2))
    case 19: return .collate(operandOfCollate(), some(1...2) { $0.collation() })
    case 20: return .cast(operand(), once(in: 10) ? SQLTypeName("") : typeName())
    case 21:
      let base = maybe { $0.operand() }
      let branches = some(1...2) { source in
        let condition = source.operand()
        return SQLCase.Branch(when: condition, then: source.operand())
      }
      return .case(SQLCase(base, branches: branches, otherwise: maybe { $0.operand() }))
    case 22, 23: return .call(call())
    case 24:
      switch below(3) {
      case 0: return .exists(deeper { $0.select() })
      case 1: return .subquery(deeper { $0.select(columns: 1) })
      default:
        let left = SQLExpression(.row(some(2...2) { $0.operand() }))
        let operation = pick([SQLBinaryOperator.equal, .less, .is])
        let right =
          once(in: 2)
          ? SQLExpression(.row(some(2...2) { $0.operand() }))
          : SQLExpression(.subquery(deeper { $0.select(columns: 2) }))
        return .binary(left, operation, right)
      }
    default: return .parenthesized(deeper { $0.expression() })
    }
  }

  private mutating func inSet() -> SQLInSet {
    switch below(16) {
    case 0, 7, 8: .select(select(columns: 1))
    case 1, 3, 4: .table(once(in: 15) ? tableName() : "singles")
    case 2: .function("json_each", some(0...2) { $0.operand() })
    default: .list(some(0...3) { $0.operand() })
    }
  }

  private mutating func leaf() -> SQLExpression.Node {
    switch below(20) {
    case 0: .literal(.null)
    case 1: .literal(.integer(pick(["0", "1", "17", "0x1F", "9223372036854775807", "00"])))
    case 2: .literal(.real(pick(["1.5", ".5", "1.", "1e3", "2.5E-7"])))
    case 3: .literal(.string(pick(["", "x", "it's", "Größe", "a\nb", "--", "/*", "\""])))
    case 4: .literal(.blob(pick(["", "00", "fF0a"])))
    case 5: .literal(pick([.currentTime, .currentDate, .currentTimestamp]))
    case 6: .parameter(pick(["?", "?1", "?12", ":a", "@b", "$c", "$c::d(e)", "#x"]))
    case 7: .column(pick([SQLName("TRUE", quoting: .none), SQLName("x", quoting: .double)]))
    case 8, 9, 10, 11: .literal(.integer("\(below(10))"))
    default: column()
    }
  }

  private mutating func column() -> SQLExpression.Node {
    guard !scope.isEmpty, !once(in: 200) else {
      return scope.isEmpty
        ? .literal(.integer("\(below(100))")) : .column(SQLName("nowhere", quoting: .none))
    }
    let table = pick(scope)
    let isFunction = table.hasPrefix("j")
    let column = isFunction ? name(pick(["key", "value"])) : columnName()
    if scope.count == 1, once(in: 2) { return .column(column) }
    return .qualifiedColumn(schema: nil, table: name(table), column: column)
  }

  private mutating func call() -> SQLFunctionCall {
    // Draws the same random numbers whether or not aggregates are allowed.
    let kind = below(10)
    if kind < 4, allowsAggregates || once(in: 60) {
      return aggregating(false) { $0.aggregate(kind) }
    }
    switch kind {
    case 4, 5:
      return SQLFunctionCall(name(pick(["coalesce", "max"])), some(2...3) { $0.operand() })
    case 6: return SQLFunctionCall(name(pick(["like", "glob"])), some(2...2) { $0.operand() })
    case 7:
      return once(in: 12)
        ? SQLFunctionCall(freshName(), some(0...2) { $0.operand() })
        : SQLFunctionCall(name("random"), [])
    default:
      return SQLFunctionCall(
        name(pick(["abs", "length", "typeof", "upper"])), some(1...1) { $0.operand() })
    }
  }

  private mutating func aggregate(_ kind: Int) -> SQLFunctionCall {
    switch kind {
    case 0:
      let filter = maybe(in: 3) { $0.operand() }
      return SQLFunctionCall(name("count"), nil, filter: filter)
    case 1:
      let quantifier = maybe { $0.pick(SQLQuantifier.self) }
      let arguments = some(1...1) { $0.operand() }
      return SQLFunctionCall(
        name(pick(["sum", "group_concat"])), quantifier: quantifier, arguments)
    case 2:
      let arguments = some(1...1) { $0.operand() }
      let filter = maybe(in: 3) { $0.operand() }
      return SQLFunctionCall(
        name(pick(["sum", "max"])), arguments, filter: filter, over: .window(window()))
    default:
      return SQLFunctionCall(
        name("row_number"), [],
        over: hasWindow ? .name("win") : .window(SQLWindow()))
    }
  }

  mutating func window() -> SQLWindow {
    deeper { source in
      let base = source.hasWindow ? source.maybe(in: 8) { _ in SQLName("win") } : nil
      let partition = source.some(0...1) { $0.operand() }
      let order = source.some(0...1) { $0.orderTerm() }
      return SQLWindow(
        base: base, partitionBy: partition, orderBy: order, frame: source.maybe { $0.frame() })
    }
  }

  private mutating func frame() -> SQLFrame {
    let unit = pick(SQLFrame.Unit.self)
    let count: (inout TreeSource) -> SQLExpression = { source in
      let number = SQLExpression(.literal(.integer("\(source.below(5))")))
      return source.parenthesizes ? SQLExpression(.parenthesized(number)) : number
    }
    let exclusion = maybe(in: 3) { $0.pick(SQLFrame.Exclusion.self) }
    // SQLite rejects a frame that ends before it begins.
    switch below(6) {
    case 0: return SQLFrame(unit, .unboundedPreceding, exclude: exclusion)
    case 1: return SQLFrame(unit, .currentRow, exclude: exclusion)
    case 2: return SQLFrame(unit, .preceding(count(&self)), exclude: exclusion)
    case 3: return SQLFrame(unit, .currentRow, and: .unboundedFollowing, exclude: exclusion)
    case 4:
      let start = SQLFrame.Bound.following(count(&self))
      return SQLFrame(unit, start, and: .following(count(&self)), exclude: exclusion)
    default:
      let start = once(in: 2) ? SQLFrame.Bound.unboundedPreceding : .preceding(count(&self))
      let end = pick([SQLFrame.Bound.currentRow, .preceding(count(&self))])
      return SQLFrame(unit, start, and: end, exclude: exclusion)
    }
  }

  /// Returns an operand that can't be interpreted as a column number.
  mutating func sortedOperand() -> SQLExpression {
    let made = operand()
    var inner = made
    while case .parenthesized(let next) = inner.node { inner = next }
    guard case .literal = inner.node else { return made }
    return SQLExpression(.unary(.not, made))
  }

  mutating func orderTerm() -> SQLOrderTerm {
    let expression = once(in: 2) && !scope.isEmpty ? SQLExpression(column()) : sortedOperand()
    return SQLOrderTerm(
      expression, maybe { $0.pick(SQLOrderTerm.Direction.self) },
      nulls: maybe(in: 5) { $0.pick(SQLOrderTerm.Nulls.self) })
  }
}
