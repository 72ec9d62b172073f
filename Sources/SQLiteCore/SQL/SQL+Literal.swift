extension SQL: ExpressibleByStringInterpolation {
  /// Creates SQL from a literal without interpolations.
  ///
  /// - Parameter value: The text of the literal.
  public init(stringLiteral value: String) {
    self.init(unchecked: value)
  }

  /// Creates SQL from a literal with interpolated values, which are bound to parameters.
  ///
  /// - Parameter stringInterpolation: The text and the values of the literal.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.sql
  }

  /// The builder for SQL literals. It collects their text and their interpolated values.
  public struct StringInterpolation: StringInterpolationProtocol {
    @usableFromInline var sql = SQL(unchecked: "")

    /// Creates an empty builder for a literal.
    ///
    /// - Parameters:
    ///   - literalCapacity: The approximate size of the literal's text.
    ///   - interpolationCount: The number of interpolations in the literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql.reserve(interpolationCount)
    }

    /// Appends text of the literal itself.
    ///
    /// - Parameter literal: The SQL text.
    @inline(never)
    public mutating func appendLiteral(_ literal: String) {
      sql.add(literal)
    }

    /// Appends a parameter and binds a value to it. The value can also be an `any Bindable`.
    ///
    /// If SQLite can't store the value, the statement throws the value's error instead of running.
    ///
    /// - Parameter value: The value to bind.
    @inlinable  // Benchmarks `point` and `insert`.
    public mutating func appendInterpolation(_ value: some Bindable) {
      do {
        sql.append(value: try value.databaseValue)
      } catch {
        sql.refuse(error)
      }
    }

    /// Appends a parameter and binds an optional value to it; nil is bound as NULL.
    ///
    /// If SQLite can't store the value, the statement throws the value's error instead of running.
    ///
    /// - Parameter value: The value to bind, or nil for NULL.
    @inlinable  // Benchmark `insert`.
    public mutating func appendInterpolation<Wrapped: Bindable>(_ value: Wrapped?) {
      do {
        sql.append(value: try value.databaseValue)
      } catch {
        sql.refuse(error)
      }
    }

    /// Appends a parameter and binds bytes to it as a blob.
    ///
    /// - Parameter bytes: The content of the blob.
    public mutating func appendInterpolation(_ bytes: [UInt8]) {
      sql.append(value: .blob(bytes))
    }

    /// Appends the values of an array as a list for `IN`, as in `WHERE id IN \(ids)`.
    ///
    /// The whole list is a single parameter. The statement can therefore be cached, and the list
    /// can have any length.
    ///
    /// - Parameter list: The values of the list.
    public mutating func appendInterpolation<Element: Bindable>(_ list: [Element]) {
      append(list)
    }

    /// Appends a list of integers for `IN`. Unlike the generic overload, it doesn't call each
    /// element's `databaseValue` (benchmark `relations`).
    package mutating func appendInterpolation(_ list: [Int64]) {
      sql.append(list: list.map { .integer($0) })
    }

    /// Appends the values of a set as a list for `IN`, as in `WHERE id IN \(ids)`.
    ///
    /// The whole set is a single parameter. The statement can therefore be cached, and the set can
    /// have any size.
    ///
    /// - Parameter set: The values of the set.
    public mutating func appendInterpolation<Element: Bindable>(_ set: Set<Element>) {
      append(set)
    }

    /// Appends SQL together with its bound values.
    ///
    /// - Parameter fragment: A part of a statement.
    public mutating func appendInterpolation(_ fragment: SQL) {
      sql.append(fragment)
    }

    /// Appends a quoted identifier, such as the name of a table or a column.
    ///
    /// If the name is empty or contains a NUL character, the statement throws ``ResultCode/misuse``
    /// instead of running.
    ///
    /// - Parameter name: The unquoted name, which may itself contain quotes.
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
