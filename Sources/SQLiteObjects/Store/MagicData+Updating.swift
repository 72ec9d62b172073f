import SQLiteCore

extension MagicData {
  /// Updates properties of all objects of a query with one statement, blocking the thread.
  ///
  ///     let count = try magic.updateAll(
  ///       Article.where(\.$stock > 0 && \.$isOnSale == true),
  ///       set: [\.$stock -= 1, \.$price *= 0.9, .set(\.$soldAt, to: .now)])
  ///
  /// No object is fetched. The update is atomic, and observers are notified as after any write.
  /// **Objects in memory keep the values that they were fetched with**: fetch them again to see the
  /// new values. Saving such an object with `update(_:)` writes only the properties that were set,
  /// and `update(_:ifUnchanged:)` reports a conflict.
  ///
  /// - Parameters:
  ///   - query: A query for the objects, such as `Article.all`.
  ///   - assignments: The new values, at most one for each property. The assignments and the filter
  ///     are evaluated with the values from before the update.
  /// - Returns: The number of objects that match the query; 0 if there are no assignments.
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` for a property that can't be set this
  ///   way: a collection, an `Int` primary value, or content of an asset.
  ///   ``MagicError/notSaved(type:)`` if an assigned object was never saved, and
  ///   ``MagicError/missingTarget(type:zIndex:)`` if it was removed. `SQLiteError` with a
  ///   constraint code for nil in a non-optional property, and for duplicate values of a unique
  ///   property, even if they are duplicates only while the statement runs; with `ResultCode.range`
  ///   for a number that doesn't fit its property. Any other ``MagicError`` or `SQLiteError`. Then
  ///   nothing is changed.
  @discardableResult
  public func updateAll<Object: MagicObject>(
    _ query: Query<Object>, set assignments: [Assignment<Object>]
  ) throws -> Int {
    let update = try BulkUpdate<Object>(self, query, assignments)
    return try write { try update.run(on: $0) }
  }

  /// Updates properties of all objects of a query with one statement. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``updateAll(_:set:)``.
  ///
  /// - Parameters:
  ///   - query: A query for the objects, such as `Article.all`.
  ///   - assignments: The new values, at most one for each property. The assignments and the filter
  ///     are evaluated with the values from before the update.
  /// - Returns: The number of objects that match the query; 0 if there are no assignments.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func updateAll<Object: MagicObject>(
    _ query: Query<Object>, set assignments: [Assignment<Object>]
  ) async throws -> Int {
    let update = try await preparingQuery { try BulkUpdate<Object>(self, query, assignments) }
    return try await write { try update.run(on: $0) }
  }
}

/// An UPDATE of many objects, as a Sendable value.
private struct BulkUpdate<Object: MagicObject>: Sendable {
  private let store: any ObjectStore
  private let plan: ObjectPlan
  /// The statement, or nil if there are no assignments.
  private let sql: SQL?
  /// The indexes of the properties that are set to an object.
  private var references: [Int] = []
  /// The assigned numbers that the statement calculates and that may not fit their properties.
  private var checks: [Check] = []

  init(
    _ store: any ObjectStore, _ query: Query<Object>, _ assignments: [Assignment<Object>]
  ) throws {
    let plan = try store.plan(Object.self)
    self.store = store
    self.plan = plan
    var columns: [SQL] = []
    var values: [SQL] = []
    var fits: [NumberFit?] = []
    let condition = try query.parts.limitedCondition(in: store)
      .map { try ExpressionSQL.condition($0, on: plan, in: store) }
    let narrowing = try ExpressionSQL(store).rowStrategy(query.parts.filter, plan).narrowing
    var slots: Set<Int> = []
    for assignment in assignments {
      let slot = try plan.slot(of: assignment)
      guard slots.insert(slot).inserted else { throw plan.refuse(slot, "is set twice") }
      let name = plan.properties[slot].name
      columns.append("\(identifier: name)")
      let value = try ExpressionSQL.sql(assignment.value, on: plan, narrowing, in: store)
      let fit = assignment.range.map { NumberFit(name: name, range: $0) }
      values.append(value)
      fits.append(fit)
      if let fit { checks.append(Check(fit, value, in: plan, where: condition)) }
      if case .object = assignment.value { references.append(slot) }
    }
    sql = columns.isEmpty ? nil : BulkUpdate.sql(plan, columns, values, fits, where: condition)
  }

  private static func sql(
    _ plan: ObjectPlan, _ columns: [SQL], _ values: [SQL], _ fits: [NumberFit?],
    where condition: SQL?
  ) -> SQL {
    let table: SQL = "\(identifier: plan.table)"
    let key = SQL(unchecked: plan.qualifiedKey)
    func list(_ values: [SQL]) -> SQL {
      let fitting = zip(values, fits).map { value, fit in fit?.checked(value) ?? value }
      return SQL(joining: zip(columns, fitting).map { "\($0) = \($1)" }, separator: ", ")
    }
    var clause: SQL = ""
    if let condition { clause = " WHERE \(condition)" }
    // A subquery would see rows that this UPDATE has already changed, so all values are read first.
    let mayReadOthers = values.contains { asciiLowercased($0.text).contains("select") }
    guard mayReadOthers else { return "UPDATE \(table) SET \(list(values))\(clause)" }
    let names = values.indices.map { SQL(unchecked: "value_\($0)") }
    let read = SQL(joining: zip(values, names).map { "\($0) AS \($1)" }, separator: ", ")
    let new = names.map { "magicdata_new.\($0)" as SQL }
    return
      "UPDATE \(table) SET \(list(new)) FROM (SELECT \(key) AS id, \(read) FROM \(table)\(clause)) AS magicdata_new WHERE \(key) = magicdata_new.id"
  }

  /// Runs the update as part of the open transaction and returns the number of objects that match
  /// the query.
  func run(on connection: Connection) throws -> Int {
    guard let sql, try !connection.columnNames(of: plan.table).isEmpty else { return 0 }
    try store.prepareTables([plan], connection)
    let count = try change(sql, connection)
    try connection.checkTargetsExist {
      try references.map { (try store.relation(of: plan.shape, $0), owners: nil) }
    }
    return count
  }

  private func change(_ sql: SQL, _ connection: Connection) throws -> Int {
    do {
      return try connection.executeChange(sql).rows
    } catch {
      throw try rangeError(error, connection) ?? error
    }
  }

  /// Searches for the calculated number that made the update fail because it doesn't fit its
  /// property.
  ///
  /// - Returns: The error to throw, which names the property. Nil if the update failed for another
  ///   reason, or if no such number is found.
  private func rangeError(_ error: any Error, _ connection: Connection) throws -> (any Error)? {
    guard let error = error as? SQLiteError, error.message.contains(NumberFit.failure) else {
      return nil
    }
    for check in checks {
      if try connection.firstRow(check.search) != nil { return check.fit.error }
    }
    return nil
  }

  /// The check of a calculated number, with a query that returns a row if the number doesn't fit
  /// its property.
  private struct Check: Sendable {
    let fit: NumberFit
    let search: SQL

    init(_ fit: NumberFit, _ value: SQL, in plan: ObjectPlan, where condition: SQL?) {
      self.fit = fit
      var search: SQL = "SELECT \(value) FROM \(identifier: plan.table) WHERE NOT ("
      search.append(fit.condition(value))
      search.append(")")
      if let condition { search.append(" AND (\(condition))") }
      search.append(" LIMIT 1")
      self.search = search
    }
  }
}

extension ObjectPlan {
  /// Returns the slot of the property that an assignment sets.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the property can't be set this way.
  fileprivate func slot<Object: MagicObject>(of assignment: Assignment<Object>) throws -> Int {
    let slots: [Int]
    switch assignment.target {
    case .column(let path): slots = path
    case .failure(let error): throw error
    default: slots = []
    }
    guard slots.count == 1, let slot = slots.first else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "only its own properties can be set, not those of related objects")
    }
    guard properties[slot].hasColumn else { throw refuse(slot, "has no column to set") }
    guard slot != autoIncrementSlot else {
      throw refuse(slot, "is the auto-incremented number of the object, which cannot be changed")
    }
    if properties[slot].role.isAsset {
      guard case .value(.null) = assignment.value else {
        throw refuse(slot, "is an asset, which each object must own; only nil can be set")
      }
    }
    return slot
  }

  fileprivate func refuse(_ slot: Int, _ reason: String) -> MagicError {
    .unsuitableType(type: typeName, reason: "“\(properties[slot].name)” \(reason)")
  }
}
