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
  /// The text, with a `?` for each interpolated value.
  public fileprivate(set) var text: String
  package fileprivate(set) var arguments: [SQLArgument] = []
  /// What was wrong with an interpolated value; thrown before anything runs.
  package private(set) var failure: SQLiteError?

  /// Takes text as it is.
  ///
  /// - Parameter text: SQL that no user's text was spliced into.
  public init(unchecked text: String) {
    self.text = text
  }

  package init(_ text: String, _ values: [Value]) {
    self.text = text
    arguments = values.map { .value($0) }
  }

  package init(_ text: String, arguments: [SQLArgument]) {
    self.text = text
    self.arguments = arguments
  }
}

/// What is bound to one parameter.
package enum SQLArgument: Sendable, Hashable {
  case value(Value)
  /// The rows of the table-valued function `magicdata_list`.
  case list([Value])
}

extension SQL {
  /// Appends text and values of another piece of SQL.
  ///
  /// - Parameter other: What to append, as it is: no blank is put between.
  public mutating func append(_ other: SQL) {
    text += other.text
    arguments += other.arguments
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
}

extension SQL: ExpressibleByStringInterpolation {
  /// Takes a literal without values.
  ///
  /// - Parameter value: The literal's text.
  public init(stringLiteral value: String) {
    self.init(unchecked: value)
  }

  /// Takes a literal with values.
  ///
  /// - Parameter stringInterpolation: The pieces of the literal.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.sql
  }

  /// The pieces of a literal as the compiler hands them over.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var sql = SQL(unchecked: "")

    /// Prepares for a literal.
    ///
    /// - Parameters:
    ///   - literalCapacity: The size of its text.
    ///   - interpolationCount: The number of its values.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql.text.reserveCapacity(literalCapacity + interpolationCount)
      sql.arguments.reserveCapacity(interpolationCount)
    }

    /// Appends the literal's own text.
    ///
    /// - Parameter literal: SQL.
    public mutating func appendLiteral(_ literal: String) {
      sql.text += literal
    }

    /// Binds a value.
    ///
    /// - Parameter value: What takes the place of a parameter.
    public mutating func appendInterpolation(_ value: some Bindable) {
      sql.bind(value)
    }

    /// Binds a value whose type is known at run time only.
    ///
    /// - Parameter value: What takes the place of a parameter.
    public mutating func appendInterpolation(_ value: any Bindable) {
      sql.bind(value)
    }

    /// Binds bytes as one blob.
    ///
    /// - Parameter bytes: What takes the place of a parameter.
    public mutating func appendInterpolation(_ bytes: [UInt8]) {
      sql.bind(bytes)
    }

    /// Binds a list for `IN`, of any length: `WHERE id IN \(ids)`.
    ///
    /// The list is one parameter, whatever its length, so that the statement is cached.
    ///
    /// - Parameter list: The values.
    public mutating func appendInterpolation<Element: Bindable>(_ list: [Element]) {
      sql.bind(list: list)
    }

    /// Binds integers for `IN`: as any list, without converting each by its type (benchmark `relations`).
    package mutating func appendInterpolation(_ list: [Int64]) {
      sql.text += "(SELECT value FROM magicdata_list(?))"
      sql.arguments.append(.list(list.map { .integer($0) }))
    }

    /// Binds a set for `IN`, of any size: `WHERE id IN \(ids)`.
    ///
    /// - Parameter set: The values.
    public mutating func appendInterpolation<Element: Bindable>(_ set: Set<Element>) {
      sql.bind(list: set)
    }

    /// Appends SQL with the values bound to it.
    ///
    /// - Parameter fragment: A piece of SQL.
    public mutating func appendInterpolation(_ fragment: SQL) {
      sql.append(fragment)
    }

    /// Appends the name of a table, a column or another thing of the schema, quoted.
    ///
    /// - Parameter name: The name as it is, with or without quotes in it.
    public mutating func appendInterpolation(identifier name: String) {
      do {
        sql.text += try quotedIdentifier(name)
      } catch {
        sql.failure = sql.failure ?? error
      }
    }
  }

  fileprivate mutating func bind(_ value: any Bindable) {
    text += "?"
    do {
      arguments.append(.value(try value.databaseValue))
    } catch {
      failure = failure ?? error
    }
  }

  fileprivate mutating func bind(list: some Sequence<some Bindable>) {
    text += "(SELECT value FROM magicdata_list(?))"
    var values: [Value] = []
    for element in list {
      do {
        values.append(try element.databaseValue)
      } catch {
        failure = failure ?? error
        return
      }
    }
    arguments.append(.list(values))
  }
}
