import SQLLexer

/// A name of a table, column, index, function or other object, including how it is quoted.
///
///     SQLName("note").text      // note
///     SQLName("my note")        // printed as "my note"
///
/// Equality includes the quoting, because SQLite reads `"x"` as a string if no column has this
/// name. Use `matches(_:)` to determine whether two names refer to the same object.
public struct SQLName: Hashable, Sendable {
  /// The quotation marks around a name.
  public enum Quoting: UInt8, Hashable, Sendable, CaseIterable {
    /// No quotation marks.
    case none
    /// `"name"`, the form of the SQL standard.
    case double
    /// Back quotes around the name, the form of MySQL.
    case back
    /// `[name]`, the form of SQL Server. The name can't contain `]`.
    case bracket
    /// `'name'`, which SQLite accepts where the grammar allows only a name.
    case single
  }

  /// The name without the quotation marks around it. Marks that are doubled in the SQL text occur
  /// only once.
  public var text: String
  /// The quotation marks around the name in SQL.
  public var quoting: Quoting
  /// The range of the name in the source text.
  public var span: SQLSpan

  /// Creates a name that is written in SQL with the quotation marks `quoting`.
  public init(_ text: String, quoting: Quoting, span: SQLSpan = .none) {
    self.text = text
    self.quoting = quoting
    self.span = span
  }

  /// Creates a name. It is written in double quotes if it is a keyword or not a single word.
  public init(_ text: String) {
    self.init(text, quoting: SQLName.needsQuotes(text) ? .double : .none)
  }

  /// Returns whether both names refer to the same object. ASCII letters match in either case, and
  /// the quoting is ignored.
  public func matches(_ other: SQLName) -> Bool { matches(other.text) }

  /// Returns whether the name refers to the object `name`. ASCII letters match in either case.
  public func matches(_ name: String) -> Bool {
    text.utf8.count == name.utf8.count
      && zip(text.utf8, name.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }
}

extension SQLName: ExpressibleByStringLiteral {
  /// Creates a name. It is written in double quotes if it is a keyword or not a single word.
  public init(stringLiteral text: String) { self.init(text) }
}

/// A name with an optional schema: `note` or `main.note`.
public struct SQLQualifiedName: Hashable, Sendable {
  /// The schema, such as `main` or `temp`; nil if none is written.
  public var schema: SQLName?
  /// The name without the schema.
  public var name: SQLName

  /// Creates the qualified name `schema.name`, or a name without a schema if `schema` is nil.
  public init(schema: SQLName? = nil, _ name: SQLName) {
    self.schema = schema
    self.name = name
  }

  /// The range of the name in the source text, including the schema.
  public var span: SQLSpan {
    guard let schema else { return name.span }
    return SQLSpan(schema.span.range.lowerBound..<name.span.range.upperBound)
  }
}

extension SQLQualifiedName: ExpressibleByStringLiteral {
  /// Creates a name without a schema. It is written in double quotes if it is a keyword or not a
  /// single word.
  public init(stringLiteral text: String) { self.init(SQLName(text)) }
}

/// The type of a column or a CAST, such as `VARCHAR(10)`, with its exact source text.
///
/// SQLite stores this text and derives the affinity from it. A type can be any sequence of words.
public struct SQLTypeName: Hashable, Sendable {
  /// The text of the type, such as `VARCHAR(10)`.
  public var text: String
  /// The range of the type in the source text.
  public var span: SQLSpan

  /// Creates a type from its exact source text, such as `VARCHAR(10)`.
  public init(_ text: String, span: SQLSpan = .none) {
    self.text = text
    self.span = span
  }

  /// The words of the type before the parentheses, such as `VARYING` and `CHARACTER` for `VARYING
  /// CHARACTER(10)`.
  public var words: [SQLName] {
    var words: [SQLName] = []
    var tokens = SQLTokens(text)
    while let token = tokens.nextSignificant(), token.kind.isWord || token.kind == .string {
      words.append(SQLName(token, in: tokens.bytes))
    }
    return words
  }

  /// The numbers in the parentheses as text, including their signs: `10` and `2` for `DECIMAL(10,
  /// 2)`. There are at most two.
  public var arguments: [String] {
    var arguments: [String] = []
    var sign = ""
    var tokens = SQLTokens(text)
    while let token = tokens.nextSignificant() {
      switch token.code {
      case .minus: sign = "-"
      case .plus: sign = "+"
      case .integer, .real:
        arguments.append(sign + tokens.text(of: token))
        sign = ""
      default: sign = ""
      }
    }
    return arguments
  }

  /// The column affinity that SQLite derives from the text of the type.
  public var affinity: Affinity {
    let folded = text.uppercased()
    if folded.contains("INT") { return .integer }
    if ["CHAR", "CLOB", "TEXT"].contains(where: folded.contains) { return .text }
    if folded.contains("BLOB") || text.isEmpty { return .blob }
    if ["REAL", "FLOA", "DOUB"].contains(where: folded.contains) { return .real }
    return .numeric
  }

  /// The conversion that a column applies to the values that it stores.
  public enum Affinity: String, Hashable, Sendable, CaseIterable {
    /// Text that represents a number becomes a number, as with ``numeric``. The two affinities
    /// differ only in CAST.
    case integer
    /// Numbers become text.
    case text
    /// Values are stored unchanged.
    case blob
    /// Text that represents a number becomes a number, and integers become floating-point numbers.
    case real
    /// Text that represents a number becomes a number, and floating-point numbers become integers
    /// if the conversion is lossless.
    case numeric
  }
}

extension SQLTypeName: ExpressibleByStringLiteral {
  /// Creates a type from its text, such as `VARCHAR(10)`.
  public init(stringLiteral text: String) { self.init(text) }
}
