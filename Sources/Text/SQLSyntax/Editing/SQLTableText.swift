import SQLLexer

/// The text of a CREATE TABLE that is changed in places: every byte that no change names stays as it
/// is, comments and blanks included.
///
///     var table = try SQLTableText("CREATE TABLE note (id INTEGER, -- the key\n title TEXT)")
///     try table.setType(of: "title", to: "VARCHAR(80)")
///     table.text   // … the comment is still there
public struct SQLTableText: Sendable {
  /// Why a change is refused.
  public enum Refusal: Error, Hashable, Sendable {
    /// The text is no CREATE TABLE with columns.
    case noTable
    /// The table has no such column.
    case noColumn(String)
    /// The table or the column has no such constraint.
    case noConstraint
    /// A table needs a column.
    case lastColumn
  }

  /// The text with all changes.
  public private(set) var text: String
  /// What the text says.
  public private(set) var table: SQLCreateTable
  /// The columns, constraints and options of the table.
  public private(set) var definition: SQLTableDefinition
  private let grammar: SQLGrammar

  /// Reads the text of a table.
  ///
  /// - Throws: ``SQLSyntaxError`` if it is not valid, ``Refusal/noTable`` if it makes no table of
  ///   columns.
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
    else { throw Refusal.noTable }
    return (table, definition)
  }

  /// Makes the changes and reads the text again; throws if it is no longer valid.
  public mutating func apply(_ edits: [SQLEdit]) throws {
    guard let text = SQLEdit.apply(edits, to: text) else { throw Refusal.noConstraint }
    (table, definition) = try SQLTableText.read(text, grammar)
    self.text = text
  }

  /// Returns the column that is called `name`, letters A to Z taken for a to z.
  public func column(_ name: String) throws -> SQLColumnDefinition {
    guard let column = definition.columns.first(where: { $0.name.matches(name) }) else {
      throw Refusal.noColumn(name)
    }
    return column
  }

  // MARK: The table

  /// Gives the table another name.
  public mutating func rename(to name: SQLName) throws {
    try apply([SQLEdit(table.name.name.span.range, name.description)])
  }

  /// Adds a constraint of the table behind the last one.
  public mutating func add(_ constraint: SQLTableConstraint) throws {
    let last = definition.constraints.last?.span ?? definition.columns.last?.span ?? .none
    try apply([SQLEdit(behind(last), ", \(constraint)")])
  }

  /// Replaces a constraint of the table.
  public mutating func replace(
    _ constraint: SQLTableConstraint, by other: SQLTableConstraint
  ) throws {
    try apply([SQLEdit(try found(constraint).span.range, other.description)])
  }

  /// Removes a constraint of the table, and a comma beside it.
  public mutating func remove(_ constraint: SQLTableConstraint) throws {
    try apply(removal(of: try found(constraint).span.range))
  }

  private func found(_ constraint: SQLTableConstraint) throws -> SQLTableConstraint {
    guard let found = definition.constraints.first(where: { $0 == constraint }) else {
      throw Refusal.noConstraint
    }
    return found
  }

  // MARK: Columns

  /// Adds a column behind the last one.
  public mutating func add(_ column: SQLColumnDefinition) throws {
    try apply([SQLEdit(behind(definition.columns.last?.span ?? .none), ", \(column)")])
  }

  /// Replaces all of a column.
  public mutating func replace(_ name: String, by column: SQLColumnDefinition) throws {
    try apply([SQLEdit(try self.column(name).span.range, column.description)])
  }

  /// Removes a column, and a comma beside it. Constraints that name it stay.
  public mutating func dropColumn(_ name: String) throws {
    guard definition.columns.count > 1 else {
      _ = try column(name)
      throw Refusal.lastColumn
    }
    try apply(removal(of: try column(name).span.range))
  }

  /// Gives a column another name. What refers to it keeps the old one.
  public mutating func renameColumn(_ name: String, to other: SQLName) throws {
    try apply([SQLEdit(try column(name).name.span.range, other.description)])
  }

  /// Gives a column another type, or none.
  public mutating func setType(of name: String, to type: SQLTypeName?) throws {
    let column = try column(name)
    guard let old = column.type else {
      let text = type.map { " \($0.text)" } ?? ""
      return try apply([SQLEdit(behind(column.name.span), text)])
    }
    guard let type else {
      return try apply([
        SQLEdit(column.name.span.range.upperBound..<old.span.range.upperBound, "")
      ])
    }
    try apply([SQLEdit(old.span.range, type.text)])
  }

  /// Adds a constraint to a column, behind the others.
  public mutating func add(_ constraint: SQLColumnConstraint, to name: String) throws {
    try apply([SQLEdit(behind(try column(name).span), " \(constraint)")])
  }

  /// Replaces a constraint of a column.
  public mutating func replace(
    _ constraint: SQLColumnConstraint, of name: String, by other: SQLColumnConstraint
  ) throws {
    try apply([SQLEdit(try found(constraint, of: name).span.range, other.description)])
  }

  /// Removes a constraint of a column.
  public mutating func remove(_ constraint: SQLColumnConstraint, of name: String) throws {
    let range = try found(constraint, of: name).span.range
    let start = withoutBlanks(before: range.lowerBound)
    try apply([SQLEdit(start..<range.upperBound, "")])
  }

  private func found(
    _ constraint: SQLColumnConstraint, of name: String
  ) throws -> SQLColumnConstraint {
    guard let found = try column(name).constraints.first(where: { $0 == constraint }) else {
      throw Refusal.noConstraint
    }
    return found
  }

  /// Puts the columns into the order of `names`; those that are not named follow.
  ///
  /// Each column takes its own bytes along; comments between columns stay where they are.
  public mutating func reorder(_ names: [String]) throws {
    let first = try names.map(column)
    let rest = definition.columns.filter { column in
      !first.contains { $0.name.matches(column.name) }
    }
    let bytes = Array(text.utf8)
    try apply(
      zip(definition.columns, first + rest).map { old, new in
        SQLEdit(old.span.range, String(decoding: bytes[new.span.range], as: UTF8.self))
      })
  }

  // MARK: Places

  private func behind(_ span: SQLSpan) -> Range<Int> {
    span.range.upperBound..<span.range.upperBound
  }

  private func withoutBlanks(before offset: Int) -> Int {
    let bytes = Array(text.utf8)
    var start = offset
    while start > 0, isBlank(bytes[start - 1]) { start -= 1 }
    // A line comment in front needs its line end.
    return isInLineComment(start) ? offset : start
  }

  private func isInLineComment(_ offset: Int) -> Bool {
    SQLTokens(text, grammar: grammar).contains {
      $0.kind == .comment && $0.range.upperBound == offset
    }
  }

  /// The edits that take `range` out, with the blanks before it and a comma beside it.
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
