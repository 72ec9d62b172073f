extension Printer {
  mutating func select(_ select: SQLSelect) {
    if let with = select.with { self.with(with) }
    body(select.body)
    for compound in select.compounds {
      clause()
      write(compound.operator.rawValue)
      clause()
      body(compound.body)
    }
    orderAndLimit(select.orderBy, select.limit)
  }

  mutating func with(_ with: SQLWith) {
    write(with.isRecursive ? "WITH RECURSIVE " : "WITH ")
    lines(with.tables) { $0.commonTable($1) }
    clause()
  }

  private mutating func commonTable(_ table: SQLCommonTable) {
    name(table.name)
    optionalNames(table.columns)
    write(" AS ")
    if let isMaterialized = table.isMaterialized {
      write(isMaterialized ? "MATERIALIZED " : "NOT MATERIALIZED ")
    }
    block { $0.select(table.select) }
  }

  private mutating func body(_ body: SQLSelectBody) {
    switch body {
    case .select(let core): self.core(core)
    case .values(let rows):
      write("VALUES ")
      lines(rows) { printer, row in
        printer.parentheses { $0.list(row) { $0.expression($1) } }
      }
    }
  }

  private mutating func core(_ core: SQLSelectCore) {
    write("SELECT ")
    if let quantifier = core.quantifier { write("\(quantifier.rawValue) ") }
    resultColumns(core.columns)
    if let from = core.from {
      clause()
      write("FROM ")
      self.from(from)
    }
    condition("WHERE", core.where)
    if !core.groupBy.isEmpty {
      clause()
      write("GROUP BY ")
      list(core.groupBy) { $0.expression($1) }
    }
    condition("HAVING", core.having)
    if !core.windows.isEmpty {
      clause()
      write("WINDOW ")
      lines(core.windows) { printer, window in
        printer.name(window.name)
        printer.write(" AS ")
        printer.window(window.window)
      }
    }
  }

  mutating func condition(_ word: String, _ condition: SQLExpression?) {
    guard let condition else { return }
    clause()
    write(word)
    write(" ")
    expression(condition)
  }

  mutating func resultColumns(_ columns: [SQLResultColumn]) {
    list(columns) { $0.resultColumn($1) }
  }

  private mutating func resultColumn(_ column: SQLResultColumn) {
    switch column.kind {
    case .all: write("*")
    case .allOf(let table):
      name(table)
      write(".*")
    case .expression(let value):
      if let text = column.written.text, column.alias == nil {
        write(text)
      } else {
        expression(value)
      }
      alias(column.alias)
    }
  }

  mutating func alias(_ alias: SQLName?) {
    guard let alias else { return }
    write(" AS ")
    name(alias)
  }

  mutating func orderAndLimit(_ terms: [SQLOrderTerm], _ limit: SQLLimit?) {
    if !terms.isEmpty {
      clause()
      write("ORDER BY ")
      list(terms) { $0.orderTerm($1) }
    }
    guard let limit else { return }
    clause()
    write("LIMIT ")
    if limit.isOffsetFirst, let offset = limit.offset {
      expression(offset)
      write(", ")
      expression(limit.count)
    } else {
      expression(limit.count)
      if let offset = limit.offset {
        write(" OFFSET ")
        expression(offset)
      }
    }
  }

  mutating func orderTerm(_ term: SQLOrderTerm) {
    expression(term.expression)
    word(term.direction?.rawValue)
    word(term.nulls?.rawValue)
  }

  // MARK: FROM

  mutating func from(_ from: SQLFrom) {
    source(from.first)
    for join in from.joins { self.join(join) }
  }

  private mutating func join(_ join: SQLJoin) {
    switch join.operator {
    case .comma: write(", ")
    case .join(let words):
      clause()
      for word in words {
        write(word.rawValue)
        write(" ")
      }
      write("JOIN ")
    }
    source(join.source)
    switch join.constraint {
    case .on(let condition):
      write(" ON ")
      expression(condition)
    case .using(let columns):
      write(" USING ")
      names(columns)
    case nil: break
    }
  }

  private mutating func source(_ source: SQLTableSource) {
    switch source {
    case .table(let table): self.table(table)
    case .function(let function, let arguments, let alias):
      name(function)
      parentheses { $0.list(arguments) { $0.expression($1) } }
      self.alias(alias)
    case .subquery(let query, let alias):
      block { $0.select(query) }
      self.alias(alias)
    case .group(let from, let alias):
      block { $0.from(from) }
      self.alias(alias)
    }
  }

  mutating func table(_ table: SQLTableReference) {
    name(table.name)
    alias(table.alias)
    switch table.indexing {
    case .by(let index):
      write(" INDEXED BY ")
      name(index)
    case .some(.none): write(" NOT INDEXED")
    case nil: break
    }
  }

  // MARK: Windows

  mutating func window(_ window: SQLWindow) {
    parentheses { printer in
      var separator = ""
      if let base = window.base {
        printer.name(base)
        separator = " "
      }
      if !window.partitionBy.isEmpty {
        printer.write("\(separator)PARTITION BY ")
        printer.list(window.partitionBy) { $0.expression($1) }
        separator = " "
      }
      if !window.orderBy.isEmpty {
        printer.write("\(separator)ORDER BY ")
        printer.list(window.orderBy) { $0.orderTerm($1) }
        separator = " "
      }
      if let frame = window.frame {
        printer.write(separator)
        printer.frame(frame)
      }
    }
  }

  private mutating func frame(_ frame: SQLFrame) {
    write("\(frame.unit.rawValue) ")
    if let end = frame.end {
      write("BETWEEN ")
      bound(frame.start)
      write(" AND ")
      bound(end)
    } else {
      bound(frame.start)
    }
    if let exclusion = frame.exclusion { write(" EXCLUDE \(exclusion.rawValue)") }
  }

  private mutating func bound(_ bound: SQLFrame.Bound) {
    switch bound {
    case .unboundedPreceding: write("UNBOUNDED PRECEDING")
    case .currentRow: write("CURRENT ROW")
    case .unboundedFollowing: write("UNBOUNDED FOLLOWING")
    case .preceding(let count):
      expression(count)
      write(" PRECEDING")
    case .following(let count):
      expression(count)
      write(" FOLLOWING")
    }
  }
}
