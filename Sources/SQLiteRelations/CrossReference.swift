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
      try objects(
        of: Right.self, through: relation(reference), from: keyValue(of: left), order?.sql)
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
        of: Left.self, through: relation(reference).reversed, from: keyValue(of: right), order?.sql)
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
      try relation(reference).count(from: keyValue(of: left), in: self)
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
      if saved.isEmpty, try !hasLinks(reference) { return [] }
      let wanted = Set(try saved.map { try keyValue(of: $0) })
      try writing(reference) {
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
        for other in wanted.subtracting(present) { try insertLink(key, other, [:], reference) }
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
    try writing(reference) { try insertLink(left, right, values, reference) }
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
    guard try hasLinks(reference) else { return false }
    try claimTable(of: reference)
    return try executeChange(
      "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left)) AND \(identifier: reference.rightKeyName) = \(keyValue(of: right))"
    ).rows > 0
  }

  private func insertLink<Left: Record, Right: Record>(
    _ left: Value, _ right: Value, _ values: [String: any Bindable],
    _ reference: CrossReference<Left, Right>
  ) throws {
    let extra = values.sorted { $0.key < $1.key }
    let names = [reference.leftKeyName, reference.rightKeyName] + extra.map(\.key)
    let list = SQL(
      joining: ["\(left)", "\(right)"] + extra.map { "\($0.value)" as SQL }, separator: ", ")
    let changes = extra.map { "\(identifier: $0.key) = excluded.\(identifier: $0.key)" as SQL }
    let action: SQL =
      changes.isEmpty ? "NOTHING" : "UPDATE SET \(SQL(joining: changes, separator: ", "))"
    try executeChange(
      "INSERT INTO \(identifier: reference.name) (\(SQL(identifiers: names))) VALUES (\(list)) ON CONFLICT (\(SQL(identifiers: Array(names.prefix(2))))) DO \(action)"
    )
  }

  /// Runs `body`, which writes links, with a table for them. The table is looked at when this connection first
  /// writes to it, and again if `body` finds that others have removed it or columns of it.
  ///
  /// - Parameters:
  ///   - reference: The links.
  ///   - body: The writing; if it fails on the table it runs once more from its start.
  private func writing<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>, _ body: () throws -> Void
  ) throws {
    let (references, key) = (references, ReferenceKey(reference))
    if references.ensured.contains(key) {
      do {
        return try body()
      } catch let error as SQLiteError where error.isOfMissingTable {}
    }
    try savepoint {
      try ensureLinks(reference)
      try body()
    }
    references.ensured.insert(key)
  }

  /// Makes the link table if it is missing, or adds the columns and indexes that it lacks.
  private func ensureLinks<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws {
    try claimTable(of: reference)
    let ends = [
      try end(reference.leftKeyName, of: Left.self),
      try end(reference.rightKeyName, of: Right.self),
    ]
    try ensure(
      TableDefinition(
        reference.name, key: .withoutRowID([reference.leftKeyName, reference.rightKeyName]),
        columns: ends + reference.columns,
        indexes: [IndexDefinition([reference.rightKeyName, reference.leftKeyName])]))
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
    _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      guard try !hasLinks(reference) else { throw error }
      return nothing()
    }
  }

  /// Returns whether there is a link table.
  private func hasLinks<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws -> Bool {
    try !columnNames(of: reference.name).isEmpty
  }

  /// The relation of left records to right ones, put together once by each connection.
  func relation<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws -> Relation {
    let (references, key) = (references, ReferenceKey(reference))
    if let known = references.relations[key] { return known }
    let relation = try Relation(
      rowsOf: reference.name, reference.leftKeyName, reference.rightKeyName,
      from: .init(table: Left.tableName, key: try keyColumn(of: Left.self)),
      to: .init(table: Right.tableName, key: try keyColumn(of: Right.self)))
    references.relations[key] = relation
    return relation
  }

  /// Notes that the link table belongs to these links.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it belongs to a type or to other links.
  private func claimTable<Left: Record, Right: Record>(
    of reference: CrossReference<Left, Right>
  ) throws {
    let (references, key) = (references, ReferenceKey(reference))
    guard !references.claimed.contains(key) else { return }
    var ends = [
      "\(reference.leftKeyName): \(Left.self)", "\(reference.rightKeyName): \(Right.self)",
    ]
    // Links may be looked at from either end.
    let isMirrored = ends[1] < ends[0]
    if isMirrored { ends.swapAt(0, 1) }
    let type: Any.Type =
      isMirrored ? CrossReference<Right, Left>.self : CrossReference<Left, Right>.self
    try claim(reference.name, for: type, as: "the links (\(ends[0]), \(ends[1]))")
    references.claimed.insert(key)
  }

  var references: KnownReferences {
    if let known = attachment(KnownReferences.self) as? KnownReferences { return known }
    let references = KnownReferences()
    attachments[ObjectIdentifier(KnownReferences.self)] = references
    return references
  }
}

/// The cross references that a connection has met.
final class KnownReferences {
  var relations: [ReferenceKey: Relation] = [:]
  /// The references whose tables had all that they need when this connection looked at them.
  var ensured: Set<ReferenceKey> = []
  /// The references whose tables were claimed.
  var claimed: Set<ReferenceKey> = []
  /// The references whose links do not come in the order of their keys unless they are sorted.
  var unordered: Set<ReferenceKey> = []
}

/// A cross reference without its further columns.
struct ReferenceKey: Hashable {
  let type: ObjectIdentifier
  let name: String
  let left: String
  let right: String

  init<Left: Record, Right: Record>(_ reference: CrossReference<Left, Right>) {
    type = ObjectIdentifier(CrossReference<Left, Right>.self)
    name = reference.name
    left = reference.leftKeyName
    right = reference.rightKeyName
  }
}

extension Connection {
  /// Reads the records that a relation leads to from one key.
  func objects<Found: Record>(
    of type: Found.Type, through relation: Relation, from key: Value, _ order: SQL? = nil
  ) throws -> [Found] {
    var found: [Found] = []
    try forEachRow(of: type, besides: [], from: relation.rows(from: .one(key), orderedBy: order)) {
      reader, _ in
      found.append(try reader.row(as: type))
      return true
    }
    return found
  }
}
