package import SQLSyntax

/// A comparison of the parser with SQLite.
package struct Judge {
  package let oracle: Oracle
  /// The grammar of the linked SQLite version.
  package let grammar = Judge.grammar
  private static let grammar = SQLGrammar(version: Oracle.version, options: Oracle.options)

  package init() throws { oracle = try Oracle() }

  /// The parser's result for the first statement of a text.
  package enum Reading: Sendable {
    case accepted(end: Int)
    case refused(SQLSyntaxError)

    package init(of text: [UInt8], grammar: SQLGrammar) {
      do {
        self = .accepted(end: try SQLStatement.parseFirst(in: text, grammar: grammar).end)
      } catch {
        self = .refused(error)
      }
    }
  }

  /// Returns the difference between the parser and SQLite for the first statement of a text, or
  /// nil.
  package func difference(_ text: [UInt8]) -> String? {
    difference(text, Reading(of: text, grammar: grammar))
  }

  /// Returns the difference between a reading of a text and SQLite, or nil.
  package func difference(_ text: [UInt8], _ reading: Reading) -> String? {
    switch (oracle.verdict(on: text), reading) {
    case (.accepted(let end), .accepted(let ours)):
      return end == ours ? nil : "ends at \(ours), SQLite's statement at \(end)"
    case (.refused(let message, let offset), .refused(let error)):
      if error.message.utf8.elementsEqual(message.utf8), error.offset == offset { return nil }
      // The tree has its own depth limit, which may be reached before SQLite's error.
      if error.kind == .tooDeep, error.offset <= offset { return nil }
      return "rejected: \(error.message) at \(error.offset), SQLite: \(message) at \(offset)"
    case (.semanticError(let message, let offset, _), .refused(let error)):
      return agrees(text, error, message, offset)
        ? nil : "rejected: \(error.message) at \(error.offset), SQLite accepts: \(message)"
    case (.semanticError(_, _, let end), .accepted(let ours)):
      return end == ours ? nil : "ends at \(ours), SQLite's statement at \(end)"
    case (.undecided(let message, let offset, let end), .refused(let error)):
      let overflows = message == "parser stack overflow"
      // SQLite reports this first if the oracle can't attach a database with that name.
      if message.hasPrefix("unknown database"), error.kind == .structure { return nil }
      // SQLite's parser stack may overflow at the invalid token.
      if overflows && (error.kind == .tooDeep || error.offset + error.length >= end)
        || agrees(text, error, message, offset)
        || error.offset >= end
      {
        return nil
      }
      return "rejected: \(error.message) at \(error.offset), SQLite reads on to \(end): \(message)"
    case (.undecided, .accepted): return nil
    case (.accepted, .refused(let error)):
      return "rejected: \(error.message) at \(error.offset), SQLite accepts"
    case (.refused(let message, let offset), .accepted):
      return "accepted, SQLite: \(message) at \(offset)"
    }
  }

  /// Returns whether a message is about the structure of a statement, independently of the schema.
  private static func isStructureError(_ message: String) -> Bool {
    [
      "unknown join type", "a JOIN clause is required", "ORDER BY clause", "LIMIT clause",
      "duplicate WITH table", "syntax error after column name", "variable number must be",
      "unsupported frame", "unknown table option", "too many ", "temporary table name must be",
      "temporary trigger may not", "qualified table names", "the INDEXED BY", "the NOT INDEXED",
      "cannot use RETURNING", "near \"#", "Expression tree is too large",
    ].contains(where: message.hasPrefix)
  }

  /// Returns whether the parser rejects a structure with SQLite's message.
  private func agrees(
    _ text: [UInt8], _ error: SQLSyntaxError, _ message: String, _ offset: Int?
  ) -> Bool {
    if error.kind == .tooDeep { return message.hasPrefix("Expression tree is too large") }
    guard error.kind == .structure else { return false }
    if error.message == message { return offset == nil || offset == error.offset }
    // SQLite reports errors in the columns instead of errors in the options after them, so this
    // checks the options after valid columns.
    guard error.message.hasPrefix("unknown table option"), error.offset < text.count else {
      return false
    }
    let options = oracle.verdict(
      on: Array("CREATE TABLE t(a INTEGER PRIMARY KEY) ".utf8) + text[error.offset...])
    switch options {
    case .semanticError(let message, _, _), .undecided(let message, _, _):
      return message == error.message
    default: return false
    }
  }
}

// MARK: - Printing

extension Judge {
  /// Returns what printing changes in the first statement of a text, or nil.
  package func printingFault(_ text: [UInt8]) -> String? {
    guard let parsed = try? SQLStatement.parseFirst(in: text, grammar: grammar),
      let statement = parsed.statement
    else { return nil }
    for style in [SQLStyle.compact, .indented] {
      let printed = statement.printed(style)
      do {
        let again = try SQLStatement(parsing: printed, grammar: grammar)
        guard again == statement else { return "is another tree when printed\n\(printed)" }
        guard again.printed(style) == printed else {
          return "changes when it is printed again\n\(printed)"
        }
      } catch {
        return "is rejected when printed: \(error)\n\(printed)"
      }
    }
    return nil
  }

  /// Returns the printed text if SQLite compiles it to another program than `sql`, or nil.
  package func printedWithOtherProgram(_ sql: String) -> String? {
    guard let statement = try? SQLStatement(parsing: sql, grammar: grammar) else { return nil }
    if Self.embedsItsText(statement) { return nil }
    let printed = statement.printed()
    return oracle.haveSameProgram(sql, printed) == false ? printed : nil
  }

  /// Returns whether SQLite stores the statement's text in its program.
  package static func embedsItsText(_ statement: SQLStatement) -> Bool {
    switch statement {
    case .createTable, .createIndex, .createView, .createTrigger, .createVirtualTable,
      .alterTable, .explain:
      true
    default: false
    }
  }
}
