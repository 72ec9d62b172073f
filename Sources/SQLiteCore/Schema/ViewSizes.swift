/// The sizes that views grow to when SQLite compiles a statement that uses one.
///
/// SQLite copies a view, a subquery and a common table expression wherever it is named, and the
/// expression of a column wherever the column is named. So a few short views can come to more than the
/// memory holds, and no progress handler is asked meanwhile. The size is estimated from the words alone:
/// it may be too high.
struct ViewSizes {
  /// The cost of each copy besides its text.
  private static let copy = 2_048
  /// How many selects, one within or named by the other, SQLite's recursion is trusted with.
  private static let maximumDepth = 100

  /// A SELECT: of a view, or one in parentheses.
  private struct Block {
    var size = ViewSizes.copy
    /// How often each name occurs that may be one of a column, a table or a view.
    var names: [String: Int] = [:]
    /// How often all columns are named at once.
    var asterisks = 0
    /// The blocks in parentheses, with their names if they are common table expressions.
    var inner: [(block: Int, name: String?)] = []
  }

  private struct Parenthesis {
    let block: Int
    /// The name in front of it.
    let front: String?
    /// The common table expression that it is, if it holds a SELECT.
    let name: String?
  }

  private typealias Local = (name: String, block: Int)

  /// Words that never name anything.
  private static let reserved = Set(
    """
    all and as between case collate create distinct else exists from group having in intersect is isnull
    join limit not notnull null on or order select then union using values when where
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  private var blocks: [Block] = []
  private var views: [String: [Int]] = [:]

  /// Adds a view.
  mutating func add(_ name: String, sql: String) {
    views[asciiLowercased(name), default: []].append(blocks.count)
    read(sql)
  }

  /// Returns whether a view comes to more than so many bytes of SQL.
  func exceed(_ limit: Int) -> Bool {
    var known: [Int: Int] = [:]
    return views.values.joined().contains { size(of: $0, [], 0, &known) > limit }
  }

  /// The size of a block with all that it names; more than any limit if it is too deep or names itself.
  ///
  /// - Parameters:
  ///   - index: The block.
  ///   - local: The common table expressions around it.
  ///   - depth: How deep it is.
  ///   - known: The sizes found so far, 0 for a block that is being looked at: what names itself is not
  ///     copied, or refused by SQLite.
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
    // Each column of what is inside may be an expression.
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

  /// Reads the SQL of a view into blocks, the view's own first.
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
        // Not of a multiplication, nor of count(*).
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
