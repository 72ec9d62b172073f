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
/// to both ends, so that no link outlives either, and indexed from both.
public struct CrossReference<Left: Record, Right: Record>: Sendable {
  /// The link table's name.
  public let name: String
  /// The column with the keys of the left ends.
  public let leftKeyName: String
  /// The column with the keys of the right ends.
  public let rightKeyName: String
  /// What links have besides.
  public let columns: [ColumnDefinition]

  /// Names links.
  ///
  /// - Parameters:
  ///   - name: The link table's name.
  ///   - leftKeyName: The column with the keys of the left ends.
  ///   - rightKeyName: The column with the keys of the right ends.
  ///   - columns: What links have besides; each is optional or has a default.
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
  /// Makes the link table if it is missing, or adds what it lacks.
  func ensureLinks<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws {
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
      throw SQLiteError(.notFound, "no \(type) was ever written, so nothing can be linked to it")
    }
    return ColumnDefinition(
      name, ColumnType(rawValue: declared.uppercased()) ?? .blob,
      reference: .init(table: type.tableName, column: key, onDelete: .cascade))
  }

  /// Runs `body`, or returns `nothing` if there is no link table yet: that is asked only if `body` fails.
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

  /// Says whether there is a link table.
  func hasLinks<Left: Record, Right: Record>(
    _ reference: CrossReference<Left, Right>
  ) throws -> Bool {
    try !columnNames(of: reference.name).isEmpty
  }
}
