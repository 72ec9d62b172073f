package import SQLSyntax

/// Compares the parser with SQLite.
package struct Judge {
  package let oracle: Oracle
  /// The grammar of the library.
  package let grammar = Judge.grammar
  private static let grammar = SQLGrammar(version: Oracle.version, options: Oracle.options)

  package init() throws { oracle = try Oracle() }

  /// What the parser says of the first statement of a text.
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

  /// Returns what the parser and SQLite say differently of the first statement of a text, or nil.
  package func difference(_ text: [UInt8]) -> String? {
    difference(text, Reading(of: text, grammar: grammar))
  }

  /// Returns what a reading of a text and SQLite say differently, or nil.
  package func difference(_ text: [UInt8], _ reading: Reading) -> String? {
    switch (oracle.verdict(on: text), reading) {
    case (.accepted(let end), .accepted(let ours)):
      return end == ours ? nil : "ends at \(ours), SQLite's statement at \(end)"
    case (.refused(let message, let offset), .refused(let error)):
      if error.message.utf8.elementsEqual(message.utf8), error.offset == offset { return nil }
      // The tree has a limit of its own, and it may be reached before SQLite's error.
      if error.kind == .tooDeep, error.offset <= offset { return nil }
      return "refused: \(error.message) at \(error.offset), SQLite: \(message) at \(offset)"
    case (.meaningless(let message, let offset, _), .refused(let error)):
      return agrees(text, error, message, offset)
        ? nil : "refused: \(error.message) at \(error.offset), SQLite accepts: \(message)"
    case (.meaningless(_, _, let end), .accepted(let ours)):
      return end == ours ? nil : "ends at \(ours), SQLite's statement at \(end)"
    case (.undecided(let message, let offset, let end), .refused(let error)):
      let overflows = message == "parser stack overflow"
      // SQLite says this first, where the oracle cannot attach a database of that name.
      if message.hasPrefix("unknown database"), error.kind == .structure { return nil }
      // The stack may be full at the token that is wrong.
      if overflows && (error.kind == .tooDeep || error.offset + error.length >= end)
        || agrees(text, error, message, offset)
        || error.offset >= end
      {
        return nil
      }
      return "refused: \(error.message) at \(error.offset), SQLite reads on to \(end): \(message)"
    case (.undecided, .accepted): return nil
    case (.accepted, .refused(let error)):
      return "refused: \(error.message) at \(error.offset), SQLite accepts"
    case (.refused(let message, let offset), .accepted):
      return "accepted, SQLite: \(message) at \(offset)"
    }
  }

  /// Whether SQLite's message is of the structure of a statement, whatever the schema is.
  private static func isOfStructure(_ message: String) -> Bool {
    [
      "unknown join type", "a JOIN clause is required", "ORDER BY clause", "LIMIT clause",
      "duplicate WITH table", "syntax error after column name", "variable number must be",
      "unsupported frame", "unknown table option", "too many ", "temporary table name must be",
      "temporary trigger may not", "qualified table names", "the INDEXED BY", "the NOT INDEXED",
      "cannot use RETURNING", "near \"#", "Expression tree is too large",
    ].contains(where: message.hasPrefix)
  }

  /// Whether the parser refuses a structure with SQLite's message.
  private func agrees(
    _ text: [UInt8], _ error: SQLSyntaxError, _ message: String, _ offset: Int?
  ) -> Bool {
    if error.kind == .tooDeep { return message.hasPrefix("Expression tree is too large") }
    guard error.kind == .structure else { return false }
    if error.message == message { return offset == nil || offset == error.offset }
    // What is wrong with the columns is said in place of what is wrong with the options behind
    // them. Behind other columns SQLite says it.
    guard error.message.hasPrefix("unknown table option"), error.offset < text.count else {
      return false
    }
    let options = oracle.verdict(
      on: Array("CREATE TABLE t(a INTEGER PRIMARY KEY) ".utf8) + text[error.offset...])
    switch options {
    case .meaningless(let message, _, _), .undecided(let message, _, _):
      return message == error.message
    default: return false
    }
  }
}

// MARK: - Printing

extension Judge {
  /// Returns what is lost when the first statement of a text is printed, or nil.
  package func unfaithfulness(_ text: [UInt8]) -> String? {
    guard let parsed = try? SQLStatement.parseFirst(in: text, grammar: grammar),
      let statement = parsed.statement
    else { return nil }
    for style in [SQLStyle.compact, .indented] {
      let printed = statement.printed(style)
      do {
        let again = try SQLStatement(parsing: printed, grammar: grammar)
        guard again == statement else { return "is another tree when printed\n\(printed)" }
        guard again.printed(style) == printed else { return "is printed anew\n\(printed)" }
      } catch {
        return "is refused when printed: \(error)\n\(printed)"
      }
    }
    return nil
  }

  /// Returns the printed text of which SQLite makes another program than of `sql`, or nil.
  package func otherProgram(_ sql: String) -> String? {
    guard let statement = try? SQLStatement(parsing: sql, grammar: grammar) else { return nil }
    if Self.keepsItsText(statement) { return nil }
    let printed = statement.printed()
    return oracle.haveOneProgram(sql, printed) == false ? printed : nil
  }

  /// Whether SQLite puts the statement's own text into its program.
  package static func keepsItsText(_ statement: SQLStatement) -> Bool {
    switch statement {
    case .createTable, .createIndex, .createView, .createTrigger, .createVirtualTable,
      .alterTable, .explain:
      true
    default: false
    }
  }
}
