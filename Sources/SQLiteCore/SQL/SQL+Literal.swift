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
    @usableFromInline var sql = SQL(unchecked: "")

    /// Prepares for a literal.
    ///
    /// - Parameters:
    ///   - literalCapacity: The size of its text.
    ///   - interpolationCount: The number of its values.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql.reserve(interpolationCount)
    }

    /// Appends the literal's own text.
    ///
    /// - Parameter literal: SQL.
    @inline(never)
    public mutating func appendLiteral(_ literal: String) {
      sql.add(literal)
    }

    /// Binds a value, whose type may be known at run time only.
    ///
    /// - Parameter value: The value that is bound to a parameter.
    @inlinable  // Benchmarks `point` and `insert`.
    public mutating func appendInterpolation(_ value: some Bindable) {
      do {
        sql.append(value: try value.databaseValue)
      } catch {
        sql.refuse(error)
      }
    }

    /// Binds a value, or NULL for nil.
    ///
    /// - Parameter value: The value that is bound to a parameter.
    @inlinable  // Benchmark `insert`.
    public mutating func appendInterpolation<Wrapped: Bindable>(_ value: Wrapped?) {
      do {
        sql.append(value: try value.databaseValue)
      } catch {
        sql.refuse(error)
      }
    }

    /// Binds bytes as one blob.
    ///
    /// - Parameter bytes: The value that is bound to a parameter.
    public mutating func appendInterpolation(_ bytes: [UInt8]) {
      sql.append(value: .blob(bytes))
    }

    /// Binds a list for `IN`, of any length: `WHERE id IN \(ids)`.
    ///
    /// The list is one parameter, whatever its length, so that the statement is cached.
    ///
    /// - Parameter list: The values.
    public mutating func appendInterpolation<Element: Bindable>(_ list: [Element]) {
      append(list)
    }

    /// Binds integers for `IN`: as any list, without converting each by its type (benchmark `relations`).
    package mutating func appendInterpolation(_ list: [Int64]) {
      sql.append(list: list.map { .integer($0) })
    }

    /// Binds a set for `IN`, of any size: `WHERE id IN \(ids)`.
    ///
    /// - Parameter set: The values.
    public mutating func appendInterpolation<Element: Bindable>(_ set: Set<Element>) {
      append(set)
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
        sql.append(text: try quotedIdentifier(name))
      } catch {
        sql.refuse(error)
      }
    }

    private mutating func append(_ list: some Sequence<some Bindable>) {
      var values: [Value] = []
      for element in list {
        do {
          values.append(try element.databaseValue)
        } catch {
          return sql.refuse(error)
        }
      }
      sql.append(list: values)
    }
  }
}
