import SQLiteCore

/// A query without the type of its objects, so that the code which writes its SQL isn't generic: looking up the metadata of
/// generic types for each query takes as long as the statement (benchmark `query`).
struct QueryParts: Sendable {
  let type: any MagicObject.Type
  var filter: QueryNode?
  var order: [QueryOrder] = []
  var isDistinct = false
  var limit: Int?
  var offset = 0
  /// The relation whose objects are queried; nil for all objects of the type.
  var origin: (any QueryOrigin)?

  init(type: any MagicObject.Type) { self.type = type }

  /// The objects with keys: primary values, or z_index values if the type has none.
  init(keys: [Value], of plan: ObjectPlan) {
    type = plan.type
    filter = .isIn(.column(plan.primary.map { [$0] } ?? []), keys)
  }

  /// The filter, if the query depends on nothing but the rows of its own type that match it.
  func rowFilter(_ plan: ObjectPlan) -> QueryNode? {
    guard let filter, origin == nil, !plan.needsContext,
      order.allSatisfy({ $0.node.isOfOneRow })
    else { return nil }
    return filter
  }

  /// The sort keys, or those of the relation.
  func sortKeys(in store: any ObjectStore) throws -> [QueryOrder] {
    guard order.isEmpty, let origin else { return order }
    return try origin.order(in: store).map { [$0] } ?? []
  }

  /// The filter and the relation.
  func unlimitedCondition(in store: any ObjectStore) throws -> QueryNode? {
    guard let related = try origin?.condition(in: store) else { return filter }
    return filter.map { .and(related, $0) } ?? related
  }
}

/// How a query's objects are grouped.
struct Groups: Sendable {
  /// The number of keys, which are the first columns; zero for one group of all objects.
  var keyCount = 0
  let having: QueryNode?
  let order: [QueryOrder]
  let limit: Int?
  let offset: Int

  /// One group of all objects.
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

  /// Whether the groups depend on nothing but the objects' own rows.
  var isOfOneRow: Bool {
    (having?.isOfOneRow ?? true) && order.allSatisfy { $0.node.isOfOneRow }
  }
}

/// A relation of one object, from which a query starts.
protocol QueryOrigin: Sendable {
  /// Returns the relation and the key of the object.
  ///
  /// - Throws: ``MagicError/notSaved(type:)`` if the object isn't in the store.
  func relation(in store: any ObjectStore) throws -> (ObjectRelation, owner: Int64)
}

extension QueryOrigin {
  /// Returns a condition on the related rows.
  func condition(in store: any ObjectStore) throws -> QueryNode {
    let (relation, owner) = try relation(in: store)
    // Nothing was ever stored for a relation without tables.
    guard try ExpressionSQL(store).isStored(relation) else { return .sql(["1 = 0"]) }
    return .sql([relation.keys.leads(from: .integer(owner))])
  }

  /// Returns the sort key of an array's objects, which is their first position; nil for other relations.
  func order(in store: any ObjectStore) throws -> QueryOrder? {
    let (relation, owner) = try relation(in: store)
    guard relation.table?.arrangement == .list, !relation.isReversed,
      try ExpressionSQL(store).isStored(relation)
    else { return nil }
    return QueryOrder(.sql([relation.keys.firstPlace(from: .integer(owner))]), isDescending: false)
  }
}
