public import SQLSyntax
public import SQLiteCore

extension SQLGrammar {
  /// The grammar of the SQLite library that is linked to the program.
  public static let linked = SQLGrammar(
    version: Capabilities.versionNumber, options: Capabilities.compileOptions)
}

extension Connection {
  /// Returns a model of the schema, parsed from the texts in `sqlite_schema`.
  ///
  ///     let schema = try connection.schemaModel()
  ///     print(schema.table("note")?.checks ?? [])
  ///
  /// Temporary tables and attached databases are omitted. A text that can't be parsed is in
  /// `SQLSchema.unread` and doesn't cause an error. Invalid UTF-8 becomes replacement characters.
  ///
  /// - Returns: The model, which later changes of the schema don't affect.
  /// - Throws: `SQLiteError` if the schema can't be read.
  /// - Complexity: O(*n*) in the length of all texts.
  public func schemaModel() throws(SQLiteError) -> SQLSchema {
    let rows = try rows(
      """
      SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM main.sqlite_schema
      WHERE sql IS NOT NULL AND name IS NOT NULL AND tbl_name IS NOT \(Connection.tokenTable)
      ORDER BY rowid
      """, as: [UInt8].self, [UInt8].self)
    return SQLSchema(
      rows.map { (String(decoding: $0.0, as: UTF8.self), String(decoding: $0.1, as: UTF8.self)) },
      grammar: .linked)
  }
}

extension Database {
  /// Returns a model of the database's schema, and blocks the thread. See
  /// ``SQLiteCore/Connection/schemaModel()`` for details.
  ///
  /// - Returns: The model, which later changes of the schema don't affect.
  /// - Throws: `SQLiteError` if the schema can't be read.
  public func schemaModel() throws -> SQLSchema {
    try read { try $0.schemaModel() }
  }

  /// Returns a model of the database's schema, and suspends the task meanwhile. See
  /// ``SQLiteCore/Connection/schemaModel()`` for details.
  ///
  /// - Returns: The model, which later changes of the schema don't affect.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func schemaModel() async throws -> SQLSchema {
    try await read { try $0.schemaModel() }
  }
}
