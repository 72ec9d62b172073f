/// SQL text and the values bound to it: the only form in which calls take SQL.
///
/// Write it as a literal. An interpolated value is bound, never spliced into the text:
///
///     let name = "Robert'); DROP TABLE student;--"
///     try connection.executeQuery("SELECT * FROM student WHERE name = \(name)")
///
/// An identifier is spelled `\(identifier: column)`, a list for `IN` is an interpolated array, and
/// an interpolated `SQL` becomes part of the text with its own values. Text made at run time is
/// spelled ``init(unchecked:)``, and nothing protects it from what you put there.
public struct SQL: Sendable {
  /// The values, each with the text before it.
  private(set) var pieces: [Piece] = []
  /// The text behind the last value.
  private(set) var end: String
  /// What was wrong with an interpolated value; thrown before anything runs.
  package private(set) var failure: SQLiteError?

  /// A value, and the text before it.
  struct Piece: Sendable {
    var text: String
    /// Says whether a `?` for the value follows the text; else there is one in it.
    let isMarked: Bool
    let argument: Argument
  }

  /// What is bound to one parameter.
  enum Argument: Sendable {
    case value(Value)
    /// The rows of the table-valued function `magicdata_list`.
    case list([Value])
  }

  /// Takes text as it is.
  ///
  /// - Parameter text: SQL that no user's text was spliced into.
  public init(unchecked text: String) {
    end = text
  }

  /// Takes text with a parameter for each of the values.
  package init(_ text: String, _ values: [Value]) {
    pieces = values.map { Piece(text: "", isMarked: false, argument: .value($0)) }
    end = pieces.isEmpty ? text : ""
    if !pieces.isEmpty { pieces[0].text = text }
  }
}

extension SQL {
  /// Appends text and values of another piece of SQL.
  ///
  /// - Parameter other: What to append, as it is: no blank is put between.
  public mutating func append(_ other: SQL) {
    for piece in other.pieces {
      append(text: piece.text)
      append(piece.argument, isMarked: piece.isMarked)
    }
    append(text: other.end)
    failure = failure ?? other.failure
  }

  /// Joins pieces of SQL.
  ///
  /// - Parameters:
  ///   - pieces: What to join.
  ///   - separator: SQL between two of them.
  public init(joining pieces: some Sequence<SQL>, separator: SQL) {
    self.init(unchecked: "")
    var isFirst = true
    for piece in pieces {
      if !isFirst { append(separator) }
      append(piece)
      isFirst = false
    }
  }

  mutating func reserve(_ count: Int) {
    pieces.reserveCapacity(count)
  }

  /// Appends text that no user's text was spliced into.
  package mutating func append(text: String) {
    if end.isEmpty { end = text } else { end += text }
  }

  /// Appends a parameter and its value.
  @usableFromInline package mutating func append(value: Value) {
    append(.value(value), isMarked: true)
  }

  /// Appends a list as the rows of a table, in parentheses.
  mutating func append(list: [Value]) {
    append(text: "(SELECT value FROM magicdata_list(")
    append(.list(list), isMarked: true)
    append(text: "))")
  }

  private mutating func append(_ argument: Argument, isMarked: Bool) {
    pieces.append(Piece(text: end, isMarked: isMarked, argument: argument))
    end = ""
  }

  /// Takes note of a value that cannot be bound. The text shows where it is.
  @usableFromInline mutating func refuse(_ error: SQLiteError) {
    append(text: "?")
    failure = failure ?? error
  }
}
