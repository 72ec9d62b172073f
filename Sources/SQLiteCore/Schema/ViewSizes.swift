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
    var names: [[UInt8]: Int] = [:]
    /// How often all columns are named at once.
    var asterisks = 0
    /// The blocks in parentheses, with their names if they are common table expressions.
    var inner: [(block: Int, name: [UInt8]?)] = []
  }

  private struct Parenthesis {
    let block: Int
    /// The name in front of it.
    let front: [UInt8]?
    /// The common table expression that it is, if it holds a SELECT.
    let name: [UInt8]?
  }

  private typealias Local = (name: [UInt8], block: Int)

  /// Words that never name anything.
  private static let reserved = Set(
    """
    all and as between case collate create distinct else exists from group having in intersect is isnull
    join limit not notnull null on or order select then union using values when where
    """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) })

  private var blocks: [Block] = []
  private var views: [[UInt8]: [Int]] = [:]

  /// Adds a view.
  mutating func add(_ name: String, sql: String) {
    views[SQLScanner.folded(name.utf8), default: []].append(blocks.count)
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
    var last: [UInt8]?
    var before = SQLScanner.Name.other(0)
    while let (name, size, isQualifier) = scanner.nextName() {
      defer { before = name }
      if case .word(let word) = name, before == .other(UInt8(ascii: "(")),
        ["select", "values", "with"].contains(where: { word.elementsEqual($0.utf8) })
      {
        blocks[current].inner.append((blocks.count, open.last?.name))
        current = blocks.count
        blocks.append(Block())
      }
      blocks[current].size += size + 1
      switch name {
      case .other(UInt8(ascii: "(")):
        let isNamed = before.isWord("as") || before.isWord("materialized")
        open.append(Parenthesis(block: current, front: last, name: isNamed ? last : nil))
        last = nil
      case .other(UInt8(ascii: ")")):
        guard let closed = open.popLast() else { break }
        current = closed.block
        last = closed.front
      case .other(UInt8(ascii: "*")):
        // Not of a multiplication, nor of count(*).
        let isColumns =
          before == .other(UInt8(ascii: ",")) || before == .other(UInt8(ascii: "."))
          || before.isWord("select") || before.isWord("distinct") || before.isWord("all")
        if isColumns { blocks[current].asterisks += 1 }
      case .other: break
      case .word(let word) where Self.reserved.contains(word):
        if name.isWord("using") { blocks[current].asterisks += 1 }
      case .word(let word), .quoted(let word):
        if name.isWord("natural") { blocks[current].asterisks += 1 }
        if !name.isWord("materialized") { last = word }
        if !isQualifier { blocks[current].names[word, default: 0] += 1 }
      }
    }
  }
}

extension SQLScanner {
  /// A token that may be a name.
  enum Name: Equatable {
    /// A word, with ASCII letters small.
    case word([UInt8])
    /// A text in quotes, likewise.
    case quoted([UInt8])
    /// Anything else, by its first byte.
    case other(UInt8)

    func isWord(_ text: StaticString) -> Bool {
      guard case .word(let word) = self else { return false }
      return text.withUTF8Buffer { unsafe $0.elementsEqual(word) }
    }
  }

  static func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
  }

  /// The next token, its length, and whether a dot follows it; nil at the end.
  mutating func nextName() -> (name: Name, size: Int, isQualifier: Bool)? {
    guard let (token, range) = next() else { return nil }
    let first = bytes[range.lowerBound]
    if token == .word {
      return (.word(Self.folded(bytes[range])), range.count, isFollowedByDot)
    }
    guard let text = unquoted(range) else { return (.other(first), range.count, false) }
    return (.quoted(Self.folded(text)), range.count, isFollowedByDot)
  }

  private var isFollowedByDot: Bool {
    var copy = self
    guard let (_, range) = copy.next() else { return false }
    return bytes[range.lowerBound] == UInt8(ascii: ".")
  }
}
