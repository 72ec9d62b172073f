import SQLiteCore

/// A query without the generic type of its objects, so that the code that writes its SQL isn't
/// generic. Generic code would look up type metadata for each query, which takes as long as the
/// statement (benchmark `query`).
package struct QueryParts: Sendable {
  let type: any MagicObject.Type
  var filter: QueryNode?
  var order: [QueryOrder] = []
  var isDistinct = false
  package internal(set) var limit: Int?
  package internal(set) var offset = 0
  /// The relation whose related objects are queried, or nil for all objects of the type.
  var origin: (any QueryOrigin)?

  init(type: any MagicObject.Type) { self.type = type }

  /// Creates a query for the objects with the given keys: primary values, or z_index values if the
  /// type has no primary value.
  init(keys: [Value], of plan: ObjectPlan) {
    type = plan.type
    filter = .isIn(.column(plan.primary.map { [$0] } ?? []), keys)
  }

  /// Returns the query's filter if the result depends only on the rows of its own type that match
  /// the filter. Returns nil if it also depends on other rows, or if the query has no filter.
  func rowFilter(_ plan: ObjectPlan) -> QueryNode? {
    guard let filter, origin == nil, !plan.needsContext,
      order.allSatisfy({ $0.node.readsOwnRowOnly })
    else { return nil }
    return filter
  }

  /// Returns the sort keys of the query. Without any, the objects of an array relation are sorted
  /// by their position in the array.
  func sortKeys(in store: any ObjectStore) throws -> [QueryOrder] {
    guard order.isEmpty, let origin else { return order }
    return try origin.order(in: store).map { [$0] } ?? []
  }

  /// Returns the condition that combines the filter and the relation, or nil if the query has
  /// neither. Ignores the limit and the offset.
  func unlimitedCondition(in store: any ObjectStore) throws -> QueryNode? {
    guard let related = try origin?.condition(in: store) else { return filter }
    return filter.map { .and(related, $0) } ?? related
  }
}

/// The grouping of a query's objects: its keys, the condition on groups, and their order and limit.
struct Groups: Sendable {
  /// The number of key columns, which are the first columns of a row; zero for one group of all
  /// objects.
  var keyCount = 0
  let having: QueryNode?
  let order: [QueryOrder]
  let limit: Int?
  let offset: Int

  /// Creates a grouping in which all objects form a single group.
  init() { (having, order, limit, offset) = (nil, [], nil, 0) }

  init<Object: MagicObject>(
    keyCount: Int = 0, having: GroupFilter<Object>?, order: [GroupSortKey<Object>], limit: Int?,
    offset: Int
  ) {
    self.keyCount = keyCount
    self.having = having?.node
    self.order = order.map { $0.order }
    self.limit = limit
    self.offset = offset
  }

  /// Whether the condition and the sort keys depend only on the rows of the grouped objects.
  var readsOwnRowOnly: Bool {
    (having?.readsOwnRowOnly ?? true) && order.allSatisfy { $0.node.readsOwnRowOnly }
  }
}

/// A relation of one object, as the starting point of a query.
protocol QueryOrigin: Sendable {
  /// Returns the relation whose related objects are queried, and the key of its owner.
  ///
  /// - Throws: ``MagicError/notSaved(type:)`` if the object isn't in the store, or the error of a
  ///   lazy relation that can't be queried, such as ``MagicError/unsavedChanges(type:)``.
  func relation(in store: any ObjectStore) throws -> (ObjectRelation, owner: Int64)
}

extension QueryOrigin {
  /// Returns a condition that selects the related rows. It selects none if the relation has no
  /// table yet.
  func condition(in store: any ObjectStore) throws -> QueryNode {
    let (relation, owner) = try relation(in: store)
    // A relation without tables has no related objects.
    guard try ExpressionSQL(store).isStored(relation) else { return .sql(["1 = 0"]) }
    return .sql([relation.keys.endCondition(from: .integer(owner))])
  }

  /// Returns the sort key of an array's objects: the first position of each in the array. Returns
  /// nil for other relations, and if the relation has no table yet.
  func order(in store: any ObjectStore) throws -> QueryOrder? {
    let (relation, owner) = try relation(in: store)
    guard relation.table?.arrangement == .list, !relation.isReversed,
      try ExpressionSQL(store).isStored(relation)
    else { return nil }
    return QueryOrder(
      .sql([relation.keys.firstPlaceExpression(from: .integer(owner))]), isDescending: false)
  }
}
