public import SQLiteCore
public import SQLiteMapping

/// Links between the records of two types, in a table of their own: many to many.
///
///     let noteTags = CrossReference<Note, Tag>(
///       "note_tag", leftKeyName: "noteID", rightKeyName: "tagID")
///     try connection.setLinks(of: note, to: tags, through: noteTags)
///     let tags = try connection.rightObjects(of: note, through: noteTags)
///
/// Each pair is linked at most once. The table is made when it is first written to: with foreign keys
/// to both ends, so that no link outlives either, and indexed from both. It belongs to these two types:
/// another type, or other links, that claim the table are refused as long as the file is open.
public struct CrossReference<Left: Record, Right: Record>: Sendable {
  /// The link table's name.
  public let name: String
  /// The column with the keys of the left ends.
  public let leftKeyName: String
  /// The column with the keys of the right ends.
  public let rightKeyName: String
  /// More columns of the link table.
  public let columns: [ColumnDefinition]

  /// Names links.
  ///
  /// - Parameters:
  ///   - name: The link table's name.
  ///   - leftKeyName: The column with the keys of the left ends.
  ///   - rightKeyName: The column with the keys of the right ends.
  ///   - columns: More columns of the link table; each is optional or has a default.
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
  /// Reads the records that one on the left is linked to.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Right] {
    try reading(reference, without: []) {
      try objects(of: Right.self, through: $0.relation, from: keyValue(of: left), order?.sql)
    }
  }

  /// Reads the records that are linked to one on the right.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Left] {
    try reading(reference, without: []) {
      try objects(
        of: Left.self, through: $0.relation.reversed, from: keyValue(of: right), order?.sql)
    }
  }

  /// The number of records that one on the left is linked to, counted by the database.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: `SQLiteError`.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    try reading(reference, without: 0) {
      try $0.relation.count(from: keyValue(of: left), in: self)
    }
  }

  /// Links a record to these records and no others, in one transaction.
  ///
  /// The others are written first, so that new ones get their keys. Links that stay are left alone,
  /// with what they have in other columns.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - others: The records to link it to.
  ///   - reference: The links.
  /// - Returns: The others, with the keys that the database made.
  /// - Throws: `SQLiteError`; then nothing has changed.
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
        let leaving = Array(present.subtracting(wanted))
        if !leaving.isEmpty {
          try executeChange(
            "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(key) AND \(identifier: reference.rightKeyName) IN \(leaving)"
          )
        }
        for other in wanted.subtracting(present) { try insertLink(key, other, [:], links) }
      }
      return saved
    }
  }

  /// Links two records, or changes the values of their link in other columns.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: The values of the link in its other columns.
  /// - Throws: `SQLiteError`.
  public func link<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable] = [:]
  ) throws {
    let (left, right) = (try keyValue(of: left), try keyValue(of: right))
    try writing(reference) { try insertLink(left, right, values, $0) }
  }

  /// Unlinks two records.
  ///
  /// - Parameters:
  ///   - left: A record.
  ///   - right: Another one.
  ///   - reference: The links.
  /// - Returns: Whether they were linked.
  /// - Throws: `SQLiteError`.
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
    _ left: Value, _ right: Value, _ values: [String: any Bindable], _ links: KnownLinks
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

  /// Runs `body`, which writes links, with a table for them. The table is looked at when this connection first
  /// writes to it, and again if `body` finds that others have removed it or columns of it.
  ///
  /// - Parameters:
  ///   - reference: The links.
  ///   - body: The writing; if it fails on the table it runs once more from its start.
  private func writing<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>, _ body: (KnownLinks) throws -> Void
  ) throws {
    let links = try known(reference)
    if links.isEnsured {
      do {
        return try body(links)
      } catch let error as SQLiteError where error.isOfMissingTable {}
    }
    try savepoint {
      try ensure(links, reference.columns)
      try body(links)
    }
    links.isEnsured = true
  }

  /// Makes the link table if it is missing, or adds the columns and indexes that it lacks.
  private func ensure(_ links: KnownLinks, _ columns: [ColumnDefinition]) throws {
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
        .notFound, "there is no table of \(type) yet: write one before linking to it")
    }
    return ColumnDefinition(
      name, ColumnType(rawValue: declared.uppercased()) ?? .blob,
      reference: .init(table: type.tableName, column: key, onDelete: .cascade))
  }

  /// Runs `body`, or returns `nothing` if there is no link table yet, which is looked up only if `body`
  /// fails.
  func reading<Left: Record, Right: Record, Result>(
    _ reference: CrossReference<Left, Right>, without nothing: @autoclosure () -> Result,
    _ body: (KnownLinks) throws -> Result
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

  /// Notes that the link table belongs to these links.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it belongs to a type or to other links.
  private func claimTable(of links: KnownLinks) throws {
    guard !links.isClaimed else { return }
    let ends = ["\(links.leftKeyName): \(links.left)", "\(links.rightKeyName): \(links.right)"]
      .sorted()
    try claim(links.name, for: links.type, as: "the links (\(ends[0]), \(ends[1]))")
    links.isClaimed = true
  }

  /// The links of a reference as this connection knows them.
  private func known<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws -> KnownLinks {
    let all =
      attachment(AllLinks.self) as? AllLinks
      ?? {
        let all = AllLinks()
        attachments[ObjectIdentifier(AllLinks.self)] = all
        return all
      }()
    let key = AllLinks.Key(
      type: ObjectIdentifier(CrossReference<Left, Right>.self), name: reference.name,
      left: reference.leftKeyName, right: reference.rightKeyName)
    if let known = all.known[key] { return known }
    let links = KnownLinks(
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
private final class AllLinks {
  struct Key: Hashable {
    let type: ObjectIdentifier
    let name: String
    let left: String
    let right: String
  }

  var known: [Key: KnownLinks] = [:]
}

/// The links of a cross reference on one connection.
final class KnownLinks {
  let name: String
  let leftKeyName: String
  let rightKeyName: String
  let left: any Record.Type
  let right: any Record.Type
  /// The type that claims the table: links may be looked at from either end.
  let type: Any.Type
  /// The relation of left records to right ones.
  let relation: Relation
  /// Whether the table had all that it needs when this connection looked at it.
  var isEnsured = false
  /// Whether the table was claimed.
  var isClaimed = false
  /// Whether the links do not come in the order of their keys unless they are sorted.
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
  /// Reads the records that a relation leads to from one key.
  func objects<Found: Record>(
    of type: Found.Type, through relation: Relation, from key: Value, _ order: SQL? = nil
  ) throws -> [Found] {
    var found: [Found] = []
    try forEachRow(
      of: type, besides: [], from: relation.rows(from: .one(key), orderedBy: .some(order))
    ) {
      reader, _ in
      found.append(try reader.row(as: type))
      return true
    }
    return found
  }
}
