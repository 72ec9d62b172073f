import SQLLexer

/// A name of a table, a column, an index, a function and so on, with the way it was quoted.
///
///     SQLName("note").text      // note
///     SQLName("my note")        // printed as "my note"
///
/// The quoting is part of equality, since SQLite reads `"x"` as a text where no column is named x.
/// Two names mean the same object of a database if `matches(_:)` says so.
public struct SQLName: Hashable, Sendable {
  /// The marks around a name.
  public enum Quoting: UInt8, Hashable, Sendable, CaseIterable {
    /// No marks.
    case none
    /// `"name"`, the form of the standard.
    case double
    /// In back quotes, as MySQL has it.
    case back
    /// `[name]`, as SQL Server has it. The name cannot hold a `]`.
    case bracket
    /// `'name'`, which SQLite takes for a name where nothing else may stand.
    case single
  }

  /// The name itself, without marks; doubled marks in it are single ones here.
  public var text: String
  /// How the name is quoted.
  public var quoting: Quoting
  /// Where the name was read.
  public var span: SQLSpan

  /// Makes a name, quoted as `quoting` says.
  public init(_ text: String, quoting: Quoting, span: SQLSpan = .none) {
    self.text = text
    self.quoting = quoting
    self.span = span
  }

  /// Makes a name, in double quotes if it is a keyword or has other letters than a plain word.
  public init(_ text: String) {
    self.init(text, quoting: SQLName.needsQuotes(text) ? .double : .none)
  }

  /// Returns whether both names mean the same object: letters A to Z are equal to a to z.
  public func matches(_ other: SQLName) -> Bool { matches(other.text) }

  /// Returns whether the name means the object called `name`.
  public func matches(_ name: String) -> Bool {
    text.utf8.count == name.utf8.count
      && zip(text.utf8, name.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }
}

extension SQLName: ExpressibleByStringLiteral {
  /// Makes a name, in double quotes if it needs them.
  public init(stringLiteral text: String) { self.init(text) }
}

/// A name that may stand behind the name of a schema: `note`, `main.note`.
public struct SQLQualifiedName: Hashable, Sendable {
  /// The schema, such as `main` or `temp`.
  public var schema: SQLName?
  /// The name in the schema.
  public var name: SQLName

  /// Makes the name `name` in `schema`.
  public init(schema: SQLName? = nil, _ name: SQLName) {
    self.schema = schema
    self.name = name
  }

  /// Where the name was read, the schema included.
  public var span: SQLSpan {
    guard let schema else { return name.span }
    return SQLSpan(schema.span.range.lowerBound..<name.span.range.upperBound)
  }
}

extension SQLQualifiedName: ExpressibleByStringLiteral {
  /// Makes a name without a schema.
  public init(stringLiteral text: String) { self.init(SQLName(text)) }
}

/// The type of a column or of a CAST, such as `VARCHAR(10)`, byte for byte as it was written.
///
/// SQLite stores this text and derives the affinity from it; any words are a type.
public struct SQLTypeName: Hashable, Sendable {
  /// The text of the type.
  public var text: String
  /// Where the type was read.
  public var span: SQLSpan

  /// Makes the type that is written `text`.
  public init(_ text: String, span: SQLSpan = .none) {
    self.text = text
    self.span = span
  }

  /// The words before the parenthesis.
  public var words: [SQLName] {
    var words: [SQLName] = []
    var tokens = SQLTokens(text)
    while let token = tokens.nextSolid(), token.kind.isWord || token.kind == .string {
      words.append(SQLName(token, in: tokens.bytes))
    }
    return words
  }

  /// The numbers in the parentheses, at most two, with their signs.
  public var arguments: [String] {
    var arguments: [String] = []
    var sign = ""
    var tokens = SQLTokens(text)
    while let token = tokens.nextSolid() {
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

  /// The affinity that SQLite derives from the text.
  public var affinity: Affinity {
    let folded = text.uppercased()
    if folded.contains("INT") { return .integer }
    if ["CHAR", "CLOB", "TEXT"].contains(where: folded.contains) { return .text }
    if folded.contains("BLOB") || text.isEmpty { return .blob }
    if ["REAL", "FLOA", "DOUB"].contains(where: folded.contains) { return .real }
    return .numeric
  }

  /// What a column does to a value that it is given.
  public enum Affinity: String, Hashable, Sendable, CaseIterable {
    /// Numbers and texts that are numbers become integers if nothing is lost.
    case integer
    /// Numbers become texts.
    case text
    /// Values stay as they are.
    case blob
    /// Numbers become floating-point numbers.
    case real
    /// Texts that are numbers become numbers.
    case numeric
  }
}

extension SQLTypeName: ExpressibleByStringLiteral {
  /// Makes the type that is written `text`.
  public init(stringLiteral text: String) { self.init(text) }
}
