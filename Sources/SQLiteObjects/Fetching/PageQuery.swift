import SQLiteCore

/// One page of objects, the result of a ``Query/page(after:limit:)-(PagePosition<Object>?,_)``
/// request.
public struct ObjectPage<Object: MagicObject> {
  /// The objects of the page, in the order of the query.
  public let objects: [Object]
  /// The position after the last object, where the next page starts. If the page is empty, it is
  /// the position at which the page starts, or nil for the first page.
  public let end: PagePosition<Object>?
  /// A Boolean value that indicates whether more objects followed the page when it was fetched.
  public let hasMore: Bool
}

extension ObjectPage: Sendable where Object: Sendable {}

/// The position after an object in the order of a query.
///
/// It stores the object's sort keys, so it stays valid when objects are inserted, changed or
/// removed, even if the object itself is changed or removed.
public struct PagePosition<Object: MagicObject>: Hashable, Sendable {
  /// The values of the sort keys at the position.
  let values: [Value]
  /// The key of the row at the position. It orders rows with equal sort keys.
  let key: Int64
  /// The fingerprint of the type and the sort keys. A position is valid only for a query with the
  /// same fingerprint.
  let order: UInt64
}

/// A query for one page of objects, prepared for one store. `KeysetPaging.swift` builds the
/// conditions that select the objects after a position.
struct PageQuery<Object: MagicObject>: Sendable {
  private let store: any ObjectStore
  let plan: ObjectPlan
  /// The query for the objects of all pages, without a limit.
  private let query: QueryParts
  private let order: UInt64
  private var start: PagePosition<Object>?
  private let limit: Int

  /// The rows of a page, read from one snapshot.
  struct Found: Sendable {
    var keys: [Int64] = []
    var end: PagePosition<Object>?
    var hasMore = false
    var graph = FetchedGraph()
  }

  /// Creates a query for the first page.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the limit isn't positive.
  init(_ store: any ObjectStore, _ query: QueryParts, limit: Int) throws {
    guard limit > 0 else { throw SQLiteError(.range, "a page must have at least one object") }
    self.store = store
    self.limit = limit
    var pages = QueryParts(type: query.type)
    pages.filter = try query.limitedCondition(in: store)
    pages.order = try query.sortKeys(in: store)
    self.query = pages
    plan = try ObjectQuery(store, pages).plan
    order = fingerprint(
      of: [plan.typeName]
        + pages.order.map {
          "\($0.isDescending ? "descending" : "ascending") \($0.node.outline(in: store))"
        })
  }

  /// Fetches the objects of the page with their related objects, and determines whether more
  /// objects follow.
  func find(_ connection: Connection) throws -> Found {
    var found = Found(end: start)
    guard try store.tableExists(plan, connection) else { return found }
    let parts = start.map { query.parts(after: $0, plan) } ?? [query]
    // Read one row more than the page holds, to determine whether more objects follow.
    for part in parts where !found.hasMore {
      let rest = min(limit - found.keys.count, Int.max - 1)
      var part = part
      part.limit = rest + 1
      try forEachRow(of: part, connection) { row in
        guard found.keys.count < limit else { return found.hasMore = true }
        let end = try position(of: row)
        found.keys.append(end.key)
        found.end = end
      }
    }
    let loader = GraphLoader(store, connection)
    try loader.load(plan.type, found.keys)
    found.graph = loader.graph
    return found
  }

  /// Creates the page from the fetched rows.
  func page(_ found: Found) throws -> ObjectPage<Object> {
    ObjectPage(
      objects: try FetchContext(store, found.graph).objects(Object.self, found.keys[...]),
      end: found.end, hasMore: found.hasMore)
  }

  /// Returns the current position of an object.
  ///
  /// - Throws: ``MagicError/notSaved(type:)`` if it isn't in the store.
  func position(ofRow key: Int64, _ connection: Connection) throws -> PagePosition<Object> {
    var row = QueryParts(type: query.type)
    row.filter = .comparison(.column([]), .equal, .value(.integer(key)))
    var position: PagePosition<Object>?
    if try store.tableExists(plan, connection) {
      try forEachRow(of: row, connection) { position = try self.position(of: $0) }
    }
    guard let position else { throw MagicError.notSaved(type: plan.typeName) }
    return position
  }

  private func position(of row: borrowing Statement) throws -> PagePosition<Object> {
    PagePosition(
      values: try query.order.indices.map { try row.value(at: $0 + 1) }, key: row.integer(at: 0),
      order: order)
  }

  /// Calls a closure with a row for each object: its key, followed by the values of this query's
  /// sort keys.
  private func forEachRow(
    of objects: QueryParts, _ connection: Connection,
    _ body: (borrowing Statement) throws -> Void
  ) throws {
    let keys = try query.order.map { try ExpressionSQL.sql($0.node, on: plan, in: store) }
    let objects = try ObjectQuery(store, objects)
    try connection.forEachRow(
      objects.selection(of: SQL(joining: [objects.key] + keys, separator: ", ")), body)
  }

  /// Returns the query for the page after a position, or for the first page if `position` is nil.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the position belongs to a query with
  ///   other sort keys.
  func starting(after position: PagePosition<Object>?) throws -> PageQuery {
    if let position,
      position.order != order || position.values.count != self.query.order.count
    {
      throw SQLiteError(.misuse, "the position belongs to a page with another order")
    }
    var query = self
    query.start = position
    return query
  }
}

/// Returns a 64-bit FNV-1a hash of texts, which is the same in every process.
private func fingerprint(of texts: [String]) -> UInt64 {
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  for text in texts {
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    // No byte of UTF-8 has this value, so texts can't be confused with their concatenation.
    hash = (hash ^ 0xff) &* 0x100_0000_01b3
  }
  return hash
}

extension QueryNode {
  /// Returns a description of the expression. Equal expressions have equal descriptions, and
  /// different ones have different descriptions.
  fileprivate func outline(in store: any ObjectStore) -> String {
    var text = ""
    // A sum of many operands is a deep tree, so this isn't recursive.
    var pending = [self]
    while let node = pending.popLast() {
      let parts = node.parts
      text += "\(node.name(in: store))/\(parts.count);"
      pending += parts.reversed()
    }
    return text
  }

  /// Returns a description of the expression without its parts.
  private func name(in store: any ObjectStore) -> String {
    switch self {
    case .value(let value): "value \(value)"
    case .column(let slots): "column \(slots)"
    case .object(let storage, let type):
      "object \(type) \(storage?.zIndex(in: store.identity) ?? 0)"
    case .comparing(_, let comparison, _, _): "comparing \(comparison)"
    case .calculation(_, let arithmetic, _, _): "calculation \(arithmetic)"
    case .isIn(_, let values): "isIn \(values)"
    case .librarySQL(let form, _, _): "writing \(form.pieces)"
    case .literal(let pieces, _, _): "literal \(pieces.map { ($0.text, $0.values) })"
    case .choice: "choice"
    case .related(let query, _): "related \(query.outline)"
    case .negation: "negation"
    case .all: "all"
    case .any: "any"
    case .failure: "failure"
    }
  }
}

extension RelatedQuery {
  /// A description of the query without its parts. It states whether the query has an operand and a
  /// filter, which ``QueryNode/parts`` contains.
  fileprivate var outline: String {
    let form = if case .aggregate(let form) = answer { form.pieces } else { ["EXISTS"] }
    return "\(route) \(form) \(operand != nil) \(filter != nil)"
  }
}
