import SQLLexer

/// The text of a CREATE TABLE statement that you can change in place.
///
/// All bytes that a change doesn't affect stay the same, including comments and blanks.
///
///     var table = try SQLTableText("CREATE TABLE note (id INTEGER, -- the key\n title TEXT)")
///     try table.setType(of: "title", to: "VARCHAR(80)")
///     table.text   // … the comment is still there
///
/// Every change parses the text again. It throws ``SQLSyntaxError``, and changes nothing, if the
/// result isn't valid.
public struct SQLTableText: Sendable {
  /// The reasons, other than syntax errors, why a table can't be read from a text or changed.
  public enum EditError: Error, Hashable, Sendable {
    /// The text isn't a CREATE TABLE statement with column definitions.
    case noTable
    /// The table has no column with this name.
    case noColumn(String)
    /// The table or column has no constraint that equals the given one. Also thrown for edits that
    /// overlap, are outside of the text, or produce invalid UTF-8.
    case noConstraint
    /// The column is the only one of the table, so it can't be removed.
    case lastColumn
    /// The new order contains this name, which refers to the same column as an earlier name.
    case repeatedColumn(String)
  }

  /// The text, including all changes.
  public private(set) var text: String
  /// The statement, parsed from ``text``.
  public private(set) var table: SQLCreateTable
  /// The columns, constraints and options of the table, parsed from ``text``.
  public private(set) var definition: SQLTableDefinition
  private let grammar: SQLGrammar

  /// Creates an editable table from the text of a CREATE TABLE statement.
  ///
  /// - Parameters:
  ///   - text: The text of the statement.
  ///   - grammar: The grammar of the SQLite library that reads the text.
  /// - Throws: ``SQLSyntaxError`` if the text isn't valid, or ``EditError/noTable`` if it isn't a
  ///   CREATE TABLE statement with column definitions.
  public init(_ text: String, grammar: SQLGrammar = SQLGrammar()) throws {
    self.text = text
    self.grammar = grammar
    (table, definition) = try SQLTableText.read(text, grammar)
  }

  private static func read(
    _ text: String, _ grammar: SQLGrammar
  ) throws -> (SQLCreateTable, SQLTableDefinition) {
    guard case .createTable(let table) = try SQLStatement(parsing: text, grammar: grammar),
      case .definition(let definition) = table.body
    else { throw EditError.noTable }
    return (table, definition)
  }

  /// Applies edits to the text and parses it again. If this throws, the text is unchanged.
  ///
  /// - Parameter edits: The edits, with ranges in the current ``text``.
  /// - Throws: ``SQLSyntaxError`` if the result isn't valid, ``EditError/noTable`` if it isn't a
  ///   CREATE TABLE statement with column definitions, or ``EditError/noConstraint`` if edits
  ///   overlap, are outside of the text, or produce invalid UTF-8.
  public mutating func apply(_ edits: [SQLEdit]) throws {
    guard let text = SQLEdit.apply(edits, to: text) else { throw EditError.noConstraint }
    (table, definition) = try SQLTableText.read(text, grammar)
    self.text = text
  }

  /// Returns the definition of the column `name`. ASCII letters match in either case.
  ///
  /// - Parameter name: The name of the column.
  /// - Returns: The definition, with its source ranges in ``text``.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no such column.
  public func column(_ name: String) throws -> SQLColumnDefinition {
    guard let column = definition.columns.first(where: { $0.name.matches(name) }) else {
      throw EditError.noColumn(name)
    }
    return column
  }

  // MARK: The table

  /// Renames the table in this statement only. Indexes, views, triggers and foreign keys are not
  /// updated.
  ///
  /// - Parameter name: The new name of the table.
  /// - Throws: ``SQLSyntaxError`` if the result isn't valid.
  public mutating func rename(to name: SQLName) throws {
    try apply([SQLEdit(table.name.name.span.range, name.description)])
  }

  /// Adds a table constraint after the existing ones, or after the columns if there are none.
  ///
  /// - Parameter constraint: The constraint to add.
  /// - Throws: ``SQLSyntaxError`` if the result isn't valid.
  public mutating func add(_ constraint: SQLTableConstraint) throws {
    let last = definition.constraints.last?.span ?? definition.columns.last?.span ?? .none
    try apply([SQLEdit(endOf(last), ", \(constraint)")])
  }

  /// Replaces a table constraint with another one.
  ///
  /// - Parameters:
  ///   - constraint: The constraint to replace.
  ///   - other: The new constraint.
  /// - Throws: ``EditError/noConstraint`` if the table has no constraint that equals `constraint`;
  ///   ``SQLSyntaxError`` if the result isn't valid.
  public mutating func replace(
    _ constraint: SQLTableConstraint, by other: SQLTableConstraint
  ) throws {
    try apply([SQLEdit(try found(constraint).span.range, other.description)])
  }

  /// Removes a table constraint, the blanks before it, and an adjacent comma. Blanks that follow a
  /// comment stay.
  ///
  /// - Parameter constraint: The constraint to remove.
  /// - Throws: ``EditError/noConstraint`` if the table has no constraint that equals `constraint`;
  ///   ``SQLSyntaxError`` if the result isn't valid.
  public mutating func remove(_ constraint: SQLTableConstraint) throws {
    try apply(removal(of: try found(constraint).span.range))
  }

  private func found(_ constraint: SQLTableConstraint) throws -> SQLTableConstraint {
    guard let found = definition.constraints.first(where: { $0 == constraint }) else {
      throw EditError.noConstraint
    }
    return found
  }

  // MARK: Columns

  /// Adds a column after the existing ones.
  ///
  /// - Parameter column: The column to add.
  /// - Throws: ``SQLSyntaxError`` if the result isn't valid.
  public mutating func add(_ column: SQLColumnDefinition) throws {
    try apply([SQLEdit(endOf(definition.columns.last?.span ?? .none), ", \(column)")])
  }

  /// Replaces the definition of the column `name` with `column`.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - column: The new definition.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`; ``SQLSyntaxError`` if
  ///   the result isn't valid.
  public mutating func replace(_ name: String, by column: SQLColumnDefinition) throws {
    try apply([SQLEdit(try self.column(name).span.range, column.description)])
  }

  /// Removes a column, the blanks before it, and an adjacent comma. Blanks that follow a comment
  /// stay. Constraints that use the column are not changed.
  ///
  /// - Parameter name: The name of the column.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`;
  ///   ``EditError/lastColumn`` if it has no other column; ``SQLSyntaxError`` if the result isn't
  ///   valid.
  public mutating func dropColumn(_ name: String) throws {
    guard definition.columns.count > 1 else {
      _ = try column(name)
      throw EditError.lastColumn
    }
    try apply(removal(of: try column(name).span.range))
  }

  /// Renames a column in its definition only. Constraints, indexes, views, triggers and foreign
  /// keys that use the old name are not updated.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - other: The new name.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`; ``SQLSyntaxError`` if
  ///   the result isn't valid.
  public mutating func renameColumn(_ name: String, to other: SQLName) throws {
    try apply([SQLEdit(try column(name).name.span.range, other.description)])
  }

  /// Changes the declared type of a column. If `type` is nil, removes the old type and everything
  /// between the name and this type, including comments.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - type: The new type, or nil for no type.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`; ``SQLSyntaxError`` if
  ///   the result isn't valid.
  public mutating func setType(of name: String, to type: SQLTypeName?) throws {
    let column = try column(name)
    guard let old = column.type else {
      let text = type.map { " \($0.text)" } ?? ""
      return try apply([SQLEdit(endOf(column.name.span), text)])
    }
    guard let type else {
      return try apply([
        SQLEdit(column.name.span.range.upperBound..<old.span.range.upperBound, "")
      ])
    }
    try apply([SQLEdit(old.span.range, type.text)])
  }

  /// Adds a constraint to a column, after the existing ones.
  ///
  /// - Parameters:
  ///   - constraint: The constraint to add.
  ///   - name: The name of the column.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`; ``SQLSyntaxError`` if
  ///   the result isn't valid.
  public mutating func add(_ constraint: SQLColumnConstraint, to name: String) throws {
    try apply([SQLEdit(endOf(try column(name).span), " \(constraint)")])
  }

  /// Replaces a constraint of a column with another one.
  ///
  /// - Parameters:
  ///   - constraint: The constraint to replace.
  ///   - name: The name of the column.
  ///   - other: The new constraint.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`;
  ///   ``EditError/noConstraint`` if the column has no constraint that equals `constraint`;
  ///   ``SQLSyntaxError`` if the result isn't valid.
  public mutating func replace(
    _ constraint: SQLColumnConstraint, of name: String, by other: SQLColumnConstraint
  ) throws {
    try apply([SQLEdit(try found(constraint, of: name).span.range, other.description)])
  }

  /// Removes a constraint of a column and the blanks before it. Blanks that follow a comment stay.
  ///
  /// - Parameters:
  ///   - constraint: The constraint to remove.
  ///   - name: The name of the column.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column `name`;
  ///   ``EditError/noConstraint`` if the column has no constraint that equals `constraint`;
  ///   ``SQLSyntaxError`` if the result isn't valid.
  public mutating func remove(_ constraint: SQLColumnConstraint, of name: String) throws {
    let range = try found(constraint, of: name).span.range
    let start = withoutBlanks(before: range.lowerBound)
    try apply([SQLEdit(start..<range.upperBound, "")])
  }

  private func found(
    _ constraint: SQLColumnConstraint, of name: String
  ) throws -> SQLColumnConstraint {
    guard let found = try column(name).constraints.first(where: { $0 == constraint }) else {
      throw EditError.noConstraint
    }
    return found
  }

  /// Reorders the columns. Columns that are not in `names` follow in their current order.
  ///
  /// Each column keeps its own text. Comments between columns keep their positions.
  ///
  /// - Parameter names: The names of the columns that come first, in their new order.
  /// - Throws: ``EditError/noColumn(_:)`` if the table has no column with one of the names;
  ///   ``EditError/repeatedColumn(_:)`` if two names refer to the same column; ``SQLSyntaxError``
  ///   if the result isn't valid.
  public mutating func reorder(_ names: [String]) throws {
    let first = try names.map(column)
    for (index, column) in first.enumerated()
    where first[..<index].contains(where: { $0.name.matches(column.name) }) {
      throw EditError.repeatedColumn(names[index])
    }
    let rest = definition.columns.filter { column in
      !first.contains { $0.name.matches(column.name) }
    }
    let bytes = Array(text.utf8)
    try apply(
      zip(definition.columns, first + rest).map { old, new in
        SQLEdit(old.span.range, String(decoding: bytes[new.span.range], as: UTF8.self))
      })
  }

  // MARK: Positions

  private func endOf(_ span: SQLSpan) -> Range<Int> {
    span.range.upperBound..<span.range.upperBound
  }

  private func withoutBlanks(before offset: Int) -> Int {
    let bytes = Array(text.utf8)
    var start = offset
    while start > 0, isBlank(bytes[start - 1]) { start -= 1 }
    // A preceding line comment needs its line break.
    return isInLineComment(start) ? offset : start
  }

  private func isInLineComment(_ offset: Int) -> Bool {
    SQLTokens(text, grammar: grammar).contains {
      $0.kind == .comment && $0.range.upperBound == offset
    }
  }

  /// Returns the edits that remove `range`, the blanks before it, and the comma that follows or
  /// else precedes it.
  private func removal(of range: Range<Int>) -> [SQLEdit] {
    var before: SQLToken?
    var after: SQLToken?
    for token in SQLTokens(text, grammar: grammar)
    where token.kind != .blank && token.kind != .comment {
      if token.range.upperBound <= range.lowerBound { before = token }
      if token.range.lowerBound >= range.upperBound {
        after = token
        break
      }
    }
    let comma = after?.code == .comma ? after : before
    var edits = [SQLEdit(withoutBlanks(before: range.lowerBound)..<range.upperBound, "")]
    if let comma, comma.code == .comma { edits.append(SQLEdit(comma.range, "")) }
    return edits
  }
}

extension SQLTableText.EditError: CustomStringConvertible {
  /// The reason for the error as English text, such as `there is no column “title”`.
  public var description: String {
    switch self {
    case .noTable: "the SQL does not create a table with columns"
    case .noColumn(let name): "there is no column “\(name)”"
    case .noConstraint: "there is no such constraint, or the edits overlap"
    case .lastColumn: "a table needs at least one column"
    case .repeatedColumn(let name): "the new order names the column “\(name)” twice"
    }
  }
}
