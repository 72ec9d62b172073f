import SQLiteCore
import SQLiteRelations

/// The rows of one type that a fetch brought.
struct FetchedRows: Sendable {
  /// The values of the plan's columns, row after row.
  var values: [Value] = []
  /// The rows' places by z_index.
  var places: [Int64: Int] = [:]
  /// The rows' z_index values.
  var zIndexes: [Int64] = []
  /// How many rows the query itself found; they come first, in its order.
  var foundCount = 0

  /// The z_index values that the query itself found, in its order.
  var found: ArraySlice<Int64> { zIndexes.prefix(foundCount) }
}

/// The links of one property that a fetch brought, owner by owner.
struct FetchedLinks: Sendable {
  private var links: [Link] = []
  private var ranges: [Int64: Range<Int>] = [:]

  /// The links of an owner, in its order.
  subscript(owner: Int64) -> ArraySlice<Link> {
    ranges[owner].map { links[$0] } ?? []
  }

  /// All links.
  var targets: [Int64] { links.map(\.target) }

  /// Takes links that come owner by owner.
  ///
  /// - Parameter read: Hands over link by link.
  /// - Returns: What the links lead to.
  mutating func append(_ read: ((Link) -> Void) throws -> Void) rethrows -> [Int64] {
    let first = links.count
    var owner: (key: Int64, start: Int)?
    try read { link in
      if owner?.key != link.owner {
        if let owner { ranges[owner.key] = owner.start..<links.count }
        owner = (link.owner, links.count)
      }
      links.append(link)
    }
    if let owner { ranges[owner.key] = owner.start..<links.count }
    return links[first...].map(\.target)
  }
}

/// A property of a type, as a key.
struct PropertyKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let slot: Int
}

/// Everything that one fetch brought, as of one snapshot.
struct FetchedGraph: Sendable {
  var plans: [ObjectIdentifier: ObjectPlan] = [:]
  var rows: [ObjectIdentifier: FetchedRows] = [:]
  var links: [PropertyKey: FetchedLinks] = [:]
  /// Objects whose relations were not followed, since they are as deep as the fetch was to go.
  var unfollowed: [ObjectIdentifier: Set<Int64>] = [:]
}
