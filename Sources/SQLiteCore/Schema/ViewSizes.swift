/// An estimate of the sizes of views after SQLite has expanded them to compile a statement.
///
/// SQLite copies a view, a subquery or a common table expression wherever it is referenced, and the
/// expression of a column wherever the column is referenced. Therefore, a few short views can
/// expand to more than the available memory, and SQLite doesn't call the progress handler
/// meanwhile. The estimate only considers the words of the SQL, so it may be too high.
struct ViewSizes {
  /// The number of bytes to add for each copy, in addition to the size of its text.
  private static let copy = 2_048
  /// The maximum depth of nested or referenced SELECTs. SQLite processes them recursively.
  private static let maximumDepth = 100

  /// The SELECT of a view, or a SELECT in parentheses.
  private struct Block {
    var size = ViewSizes.copy
    /// The number of occurrences of each name that may refer to a column, a table or a view.
    var names: [String: Int] = [:]
    /// The number of `*` that stand for all columns, plus the number of USING and NATURAL, which
    /// refer to columns of both tables.
    var asterisks = 0
    /// The indexes of the nested blocks, each with its name if it is a common table expression.
    var inner: [(block: Int, name: String?)] = []
  }

  private struct Parenthesis {
    let block: Int
    /// The last name before the parenthesis; nil if there is none. Keywords don't count.
    let front: String?
    /// The name of the common table expression whose SELECT is in the parentheses; nil if they
    /// enclose anything else.
    let name: String?
  }

  private typealias Local = (name: String, block: Int)

  /// Keywords that are never names.
  private static let reserved = Set(
    """
    all and as between case collate create distinct else exists from group having in intersect is isnull
    join limit not notnull null on or order select then union using values when where
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  private var blocks: [Block] = []
  private var views: [String: [Int]] = [:]

  /// Adds the SQL of a view, whose size is estimated and to which other views may refer.
  mutating func add(_ name: String, sql: String) {
    views[asciiLowercased(name), default: []].append(blocks.count)
    read(sql)
  }

  /// Returns whether any of the views expands to more than `limit` bytes of SQL, according to the
  /// estimate.
  func anyExceeds(_ limit: Int) -> Bool {
    var known: [Int: Int] = [:]
    return views.values.joined().contains { size(of: $0, [], 0, &known) > limit }
  }

  /// Returns the estimated size, in bytes, of a block including everything that it references;
  /// `Int.max` if it is nested too deeply.
  ///
  /// - Parameters:
  ///   - index: The index of the block.
  ///   - local: The common table expressions in scope.
  ///   - depth: The nesting depth of the block.
  ///   - known: The sizes determined so far; 0 for a block in progress. A block that references
  ///     itself adds nothing, because SQLite either rejects it or doesn't copy it.
  private func size(
    of index: Int, _ local: [Local], _ depth: Int, _ known: inout [Int: Int]
  ) -> Int {
    if let size = known[index] { return size }
    guard depth < Self.maximumDepth else { return .max }
    known[index] = 0
    let block = blocks[index]
    let local =
      local + block.inner.compactMap { inner in inner.name.map { (name: $0, block: inner.block) } }
    var sum = block.size
    for (inner, _) in block.inner {
      Self.add(size(of: inner, local, depth + 1, &known), times: 1, to: &sum)
    }
    for (name, count) in block.names {
      for view in views[name] ?? [] {
        Self.add(size(of: view, [], depth + 1, &known), times: count, to: &sum)
      }
      for other in local where other.name == name {
        Self.add(size(of: other.block, local, depth + 1, &known), times: count, to: &sum)
      }
    }
    // Each column of an inner block may be an expression, which every reference copies.
    let mentions = (block.names.values.max() ?? 0) + block.asterisks
    var whole = 0
    Self.add(sum, times: max(1, mentions), to: &whole)
    known[index] = whole
    return whole
  }

  private static func add(_ size: Int, times count: Int, to sum: inout Int) {
    let (product, isTooBig) = size.multipliedReportingOverflow(by: count)
    let (next, isTooMuch) = sum.addingReportingOverflow(product)
    sum = isTooBig || isTooMuch ? .max : next
  }

  /// Parses the SQL of a view into blocks. The first block is that of the view itself.
  private mutating func read(_ sql: String) {
    var scanner = SQLScanner(sql)
    var current = blocks.count
    blocks.append(Block())
    var open: [Parenthesis] = []
    var last: String?
    var before: SQLScanner.Word?
    var next = scanner.nextWord()
    while let word = next {
      next = scanner.nextWord()
      defer { before = word }
      func follows(_ text: String) -> Bool { before?.is(text) ?? false }
      if follows("("), ["select", "values", "with"].contains(where: word.is) {
        blocks[current].inner.append((blocks.count, open.last?.name))
        current = blocks.count
        blocks.append(Block())
      }
      blocks[current].size += word.range.count + 1
      if word.is("(") {
        let isNamed = follows("as") || follows("materialized")
        open.append(Parenthesis(block: current, front: last, name: isNamed ? last : nil))
        last = nil
      } else if word.is(")") {
        guard let closed = open.popLast() else { continue }
        current = closed.block
        last = closed.front
      } else if word.is("*") {
        // Skip multiplication and count(*).
        let isColumns = [",", ".", "select", "distinct", "all"].contains(where: follows)
        if isColumns { blocks[current].asterisks += 1 }
      } else if word.token == .word || word.isQuoted {
        if word.is("using") || word.is("natural") { blocks[current].asterisks += 1 }
        if !word.isQuoted, Self.reserved.contains(word.text) { continue }
        if !word.is("materialized") { last = word.text }
        if next?.is(".") != true { blocks[current].names[word.text, default: 0] += 1 }
      }
    }
  }
}
