public import SQLiteCore
public import SQLiteMapping

/// A many-to-many relation between the records of two types, stored in a link table.
///
///     let noteTags = CrossReference<Note, Tag>(
///       "note_tag", leftKeyName: "noteID", rightKeyName: "tagID")
///     try connection.setLinks(of: note, to: tags, through: noteTags)
///     let tags = try connection.rightObjects(of: note, through: noteTags)
///
/// Each pair of records is linked at most once. The first write creates the link table, with an
/// index for each direction. When a record is deleted, foreign keys delete its links. While a
/// database file is open in this process, the link table belongs to these two types. Using it as
/// the table of a type, or writing other links to it, throws.
public struct CrossReference<Left: Record, Right: Record>: Sendable {
  /// The name of the link table.
  public let name: String
  /// The name of the column that contains the keys of the records on the left.
  public let leftKeyName: String
  /// The name of the column that contains the keys of the records on the right.
  public let rightKeyName: String
  /// The definitions of additional columns of the link table, which store values about each link.
  public let columns: [ColumnDefinition]

  /// Creates a relation that is stored in a link table.
  ///
  /// - Parameters:
  ///   - name: The name of the link table.
  ///   - leftKeyName: The name of the column that contains the keys of the records on the left.
  ///   - rightKeyName: The name of the column that contains the keys of the records on the right.
  ///   - columns: The definitions of additional columns of the link table. Each column must be
  ///     optional or have a default.
  public init(
    _ name: String, leftKeyName: String = "leftID", rightKeyName: String = "rightID",
    columns: [ColumnDefinition] = []
  ) {
    self.name = name
    self.leftKeyName = leftKeyName
    self.rightKeyName = rightKeyName
    self.columns = columns
  }
}

extension Connection {
  /// Fetches the records on the right that are linked to a record on the left.
  ///
  /// - Parameters:
  ///   - left: A stored record.
  ///   - reference: The relation between the two types of records.
  ///   - order: The order of the result, or nil for the order of the keys. It may use columns that
  ///     only the link table has.
  /// - Returns: The linked records. Empty if the link table doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `left` has no
  ///   primary key or one with several columns; `RowDecodingError` if a row cannot be decoded as
  ///   the type; `SchemaError` if rows of a record type are equal in properties that it declares as
  ///   unique; an error from the `encode(to:)` of `left`.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Right] {
    try reading(reference, without: []) {
      try objects(of: Right.self, through: $0.relation, from: keyValue(of: left), order?.sql)
    }
  }

  /// Fetches the records on the left that are linked to a record on the right.
  ///
  /// - Parameters:
  ///   - right: A stored record.
  ///   - reference: The relation between the two types of records.
  ///   - order: The order of the result, or nil for the order of the keys. It may use columns that
  ///     only the link table has.
  /// - Returns: The linked records. Empty if the link table doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `right` has no
  ///   primary key or one with several columns; `RowDecodingError` if a row cannot be decoded as
  ///   the type; `SchemaError` if rows of a record type are equal in properties that it declares as
  ///   unique; an error from the `encode(to:)` of `right`.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Left] {
    try reading(reference, without: []) {
      try objects(
        of: Left.self, through: $0.relation.reversed, from: keyValue(of: right), order?.sql)
    }
  }

  /// Returns the number of records on the right that are linked to a record on the left, without
  /// fetching them.
  ///
  /// - Parameters:
  ///   - left: A stored record.
  ///   - reference: The relation between the two types of records.
  /// - Returns: The number of linked records, which is 0 if the link table doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `left` has no
  ///   primary key or one with several columns; `SchemaError` if rows of a record type are equal in
  ///   properties that it declares as unique; an error from the `encode(to:)` of `left`.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    try reading(reference, without: 0) {
      try $0.relation.count(from: keyValue(of: left), in: self)
    }
  }

  /// Links a record to the given records and unlinks it from all others, in one transaction.
  ///
  /// The call first inserts or updates the given records, so that new ones get their keys. Existing
  /// links to the given records don't change, including the values in additional columns.
  ///
  /// - Parameters:
  ///   - left: A stored record.
  ///   - others: The records to link it to.
  ///   - reference: The relation between the two types of records.
  /// - Returns: The given records, in order, with the keys that the database assigned.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.misuse` if `left` has no
  ///   primary key, if a primary key consists of several columns, or if the link table belongs to a
  ///   type or other links, with `ResultCode.notFound` if the table of `Left` or `Right` doesn't
  ///   exist, or with `ResultCode.readOnly` if `Right` is a read-only type; `SchemaError` if a
  ///   table cannot be adapted to its type without losing data, or if rows of a record type are
  ///   equal in properties that it declares as unique; `RowDecodingError` if a written record
  ///   cannot be decoded; an error from the `encode(to:)` of a record. Nothing changes in these
  ///   cases.
  @discardableResult
  public func setLinks<Left: Record, Right: Record>(
    of left: Left, to others: some Sequence<Right>, through reference: CrossReference<Left, Right>
  ) throws -> [Right] {
    try savepoint {
      let key = try keyValue(of: left)
      let saved = try others.map { try update($0) }
      if saved.isEmpty, try !hasLinks(reference.name) { return [] }
      let wanted = Set(try saved.map { try keyValue(of: $0) })
      try writing(reference) { links in
        let stored: [Value] = try rows(
          "SELECT \(identifier: reference.rightKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(key)",
          as: Value.self)
        let present = Set(stored)
        let removed = Array(present.subtracting(wanted))
        if !removed.isEmpty {
          try executeChange(
            "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(key) AND \(identifier: reference.rightKeyName) IN \(removed)"
          )
        }
        for other in wanted.subtracting(present) { try insertLink(key, other, [:], links) }
      }
      return saved
    }
  }

  /// Links two records. If they are already linked, changes the given additional columns of their
  /// link.
  ///
  /// - Parameters:
  ///   - left: A stored record on the left.
  ///   - right: A stored record on the right.
  ///   - reference: The relation between the two types of records.
  ///   - values: The values of additional columns of the link table, by column name.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.misuse` if a record has no
  ///   primary key or one with several columns, or if the link table belongs to a type or other
  ///   links, or with `ResultCode.notFound` if the table of a record doesn't exist; `SchemaError`
  ///   if the link table cannot be adapted without losing data, or if rows of a record type are
  ///   equal in properties that it declares as unique; an error from the `encode(to:)` of a record.
  public func link<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable] = [:]
  ) throws {
    let (left, right) = (try keyValue(of: left), try keyValue(of: right))
    try writing(reference) { try insertLink(left, right, values, $0) }
  }

  /// Deletes the link between two records.
  ///
  /// - Parameters:
  ///   - left: A stored record on the left.
  ///   - right: A stored record on the right.
  ///   - reference: The relation between the two types of records.
  /// - Returns: Whether they were linked.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if a record has no
  ///   primary key or one with several columns, or if the link table belongs to a type or other
  ///   links; `SchemaError` if rows of a record type are equal in properties that it declares as
  ///   unique; an error from the `encode(to:)` of a record.
  @discardableResult
  public func unlink<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>
  ) throws -> Bool {
    guard try hasLinks(reference.name) else { return false }
    try claimTable(of: known(reference))
    return try executeChange(
      "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left)) AND \(identifier: reference.rightKeyName) = \(keyValue(of: right))"
    ).rows > 0
  }

  private func insertLink(
    _ left: Value, _ right: Value, _ values: [String: any Bindable], _ links: CrossReferenceState
  ) throws {
    let extra = values.sorted { $0.key < $1.key }
    let names = [links.leftKeyName, links.rightKeyName] + extra.map(\.key)
    let list = SQL(
      joining: ["\(left)", "\(right)"] + extra.map { "\($0.value)" as SQL }, separator: ", ")
    let changes = extra.map { "\(identifier: $0.key) = excluded.\(identifier: $0.key)" as SQL }
    let action: SQL =
      changes.isEmpty ? "NOTHING" : "UPDATE SET \(SQL(joining: changes, separator: ", "))"
    try executeChange(
      "INSERT INTO \(identifier: links.name) (\(SQL(identifiers: names))) VALUES (\(list)) ON CONFLICT (\(SQL(identifiers: Array(names.prefix(2))))) DO \(action)"
    )
  }

  /// Runs `body`, which writes links, after ensuring that the link table is complete. The table is
  /// checked at the first write on this connection, and again if `body` fails because another
  /// connection has dropped the table or a column.
  ///
  /// - Parameters:
  ///   - reference: The relation between the two types of records.
  ///   - body: Writes the links. If it fails because of the table, it runs once more.
  private func writing<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>, _ body: (CrossReferenceState) throws -> Void
  ) throws {
    let links = try known(reference)
    if links.isEnsured {
      do {
        return try body(links)
      } catch let error as SQLiteError where error.isMissingTableOrColumn {}
    }
    try savepoint {
      try ensure(links, reference.columns)
      try body(links)
    }
    links.isEnsured = true
  }

  /// Creates the link table, or adds the columns and indexes that it lacks.
  private func ensure(_ links: CrossReferenceState, _ columns: [ColumnDefinition]) throws {
    try claimTable(of: links)
    let ends = [
      try end(links.leftKeyName, of: links.left), try end(links.rightKeyName, of: links.right),
    ]
    try ensure(
      TableDefinition(
        links.name, key: .withoutRowID([links.leftKeyName, links.rightKeyName]),
        columns: ends + columns,
        indexes: [IndexDefinition([links.rightKeyName, links.leftKeyName])]))
  }

  private func end(_ name: String, of type: any Record.Type) throws -> ColumnDefinition {
    let key = try keyColumn(of: type)
    let declared = try rows(
      "SELECT type FROM pragma_table_xinfo(\(type.tableName)) WHERE name = \(key) COLLATE NOCASE",
      as: String.self)
    guard let declared = declared.first else {
      throw SQLiteError(
        .notFound, "there is no table of \(type) yet; write a row of it before you link to it")
    }
    return ColumnDefinition(
      name, ColumnType(rawValue: declared.uppercased()) ?? .blob,
      reference: .init(table: type.tableName, column: key, onDelete: .cascade))
  }

  /// Runs `body`. If it throws an ``SQLiteError`` and the link table doesn't exist, returns
  /// `nothing` instead.
  func reading<Left: Record, Right: Record, Result>(
    _ reference: CrossReference<Left, Right>, without nothing: @autoclosure () -> Result,
    _ body: (CrossReferenceState) throws -> Result
  ) throws -> Result {
    do {
      return try body(known(reference))
    } catch let error as SQLiteError {
      guard try !hasLinks(reference.name) else { throw error }
      return nothing()
    }
  }

  /// Returns whether a link table exists.
  private func hasLinks(_ table: String) throws -> Bool { try !columnNames(of: table).isEmpty }

  /// Claims the link table for these links.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the table belongs to a type or to
  ///   other links.
  private func claimTable(of links: CrossReferenceState) throws {
    guard !links.isClaimed else { return }
    let ends = ["\(links.leftKeyName): \(links.left)", "\(links.rightKeyName): \(links.right)"]
      .sorted()
    try claim(links.name, for: links.type, as: "the links (\(ends[0]), \(ends[1]))")
    links.isClaimed = true
  }

  /// Returns the state of a relation on this connection, which is created when the relation is
  /// first used.
  private func known<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws -> CrossReferenceState {
    let all =
      attachment(CrossReferenceStates.self) as? CrossReferenceStates
      ?? {
        let all = CrossReferenceStates()
        attachments[ObjectIdentifier(CrossReferenceStates.self)] = all
        return all
      }()
    let key = CrossReferenceStates.Key(
      type: ObjectIdentifier(CrossReference<Left, Right>.self), name: reference.name,
      left: reference.leftKeyName, right: reference.rightKeyName)
    if let known = all.known[key] { return known }
    let links = CrossReferenceState(
      reference,
      try Relation(
        rowsOf: reference.name, reference.leftKeyName, reference.rightKeyName,
        from: .init(table: Left.tableName, key: try keyColumn(of: Left.self)),
        to: .init(table: Right.tableName, key: try keyColumn(of: Right.self))))
    all.known[key] = links
    return links
  }
}

/// The cross references that a connection has used.
private final class CrossReferenceStates {
  struct Key: Hashable {
    let type: ObjectIdentifier
    let name: String
    let left: String
    let right: String
  }

  var known: [Key: CrossReferenceState] = [:]
}

/// The state of a cross reference's link table, as far as one connection has determined it.
final class CrossReferenceState {
  let name: String
  let leftKeyName: String
  let rightKeyName: String
  let left: any Record.Type
  let right: any Record.Type
  /// The type that claims the table. It is the same for both directions of the relation.
  let type: Any.Type
  /// The relation from left records to right ones.
  let relation: Relation
  /// Whether this connection has found the table to be complete.
  var isEnsured = false
  /// Whether this connection has claimed the table.
  var isClaimed = false
  /// Whether an unsorted query has returned the links in another order than that of their keys.
  var isUnordered = false

  init<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>, _ relation: Relation
  ) {
    name = reference.name
    (leftKeyName, rightKeyName) = (reference.leftKeyName, reference.rightKeyName)
    (left, right) = (Left.self, Right.self)
    type =
      "\(rightKeyName): \(right)" < "\(leftKeyName): \(left)"
      ? CrossReference<Right, Left>.self : CrossReference<Left, Right>.self
    self.relation = relation
  }
}

extension Connection {
  /// Fetches the records that a relation connects with the start `key`. `order` is the SQL after
  /// ORDER BY, or nil for the order of the records' keys.
  func objects<Found: Record>(
    of type: Found.Type, through relation: Relation, from key: Value, _ order: SQL? = nil
  ) throws -> [Found] {
    var found: [Found] = []
    try forEachRow(
      of: type, additional: [], from: relation.rows(from: .one(key), orderedBy: .some(order))
    ) {
      reader, _ in
      found.append(try reader.row(as: type))
      return true
    }
    return found
  }
}
