/// A failure reported by SQLite, or a caller's mistake found before SQLite was asked.
///
/// Mistakes of the caller use SQLite's own codes: ``ResultCode/misuse`` for a call out of place,
/// ``ResultCode/range`` for a wrong index or count, ``ResultCode/mismatch`` for a value of another
/// type. The description never holds the values bound to the statement.
public struct SQLiteError: Error, Hashable, Sendable {
  /// The extended result code, such as ``ResultCode/uniqueConstraint``.
  public let code: ResultCode
  /// SQLite's own explanation, in English, or this library's.
  public let message: String
  /// The SQL being prepared or run, if any.
  public let sql: String?
  /// Where in the SQL the mistake is, in bytes of UTF-8, where SQLite knows it.
  public let offset: Int?

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The result code.
  ///   - message: What was wrong, in English; the code's own words if it is left out.
  ///   - sql: The SQL concerned.
  ///   - offset: A byte offset in the SQL.
  public init(_ code: ResultCode, _ message: String? = nil, sql: String? = nil, offset: Int? = nil)
  {
    self.code = code
    self.message = message ?? code.message
    self.sql = sql
    self.offset = offset
  }
}

extension SQLiteError: CustomStringConvertible {
  /// The message, the code and the SQL, with a mark where the mistake is.
  public var description: String {
    var text = "SQLite error \(code.rawValue): \(message)"
    guard let sql else { return text }
    text += " in: "
    guard let offset, offset >= 0, offset <= sql.utf8.count else { return text + sql }
    let place = sql.utf8.index(sql.utf8.startIndex, offsetBy: offset)
    return text + sql[..<place] + " ⟶ " + sql[place...]
  }
}

extension SQLiteError {
  /// The table and the columns that a constraint error names, where SQLite told them.
  ///
  /// SQLite says `UNIQUE constraint failed: city.name, city.country`; here that is
  /// `("city", ["name", "country"])`. CHECK and foreign key failures name no column.
  public var constraint: (table: String, columns: [String])? {
    // The message of a CHECK constraint holds its expression, dots included.
    let telling: [ResultCode] = [
      .uniqueConstraint, .primaryKeyConstraint, .notNullConstraint, .rowIDConstraint,
    ]
    guard telling.contains(code), let list = message.text(after: "constraint failed: ")
    else { return nil }
    let names = list.split(separator: ",").map { $0.drop { $0 == " " } }
    var table: Substring?
    var columns: [String] = []
    for name in names {
      guard let dot = name.firstIndex(of: ".") else { return nil }
      table = table ?? name[..<dot]
      columns.append(String(name[name.index(after: dot)...]))
    }
    return table.map { (String($0), columns) }
  }

  /// What the scopes around a transaction are told that this error ended.
  func asEndOfTransaction(_ sql: String? = nil) -> SQLiteError {
    SQLiteError(
      .abortRollback, "SQLite has rolled back the whole transaction: \(message)",
      sql: sql ?? self.sql)
  }

  package func with(sql: String) -> SQLiteError {
    SQLiteError(code, message, sql: self.sql ?? sql, offset: offset)
  }
}

extension String {
  /// What follows the first occurrence of `words`.
  fileprivate func text(after words: String) -> Substring? {
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(words) { return rest.dropFirst(words.count) }
      rest.removeFirst()
    }
    return nil
  }
}
