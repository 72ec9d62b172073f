public import SQLSyntax
public import SQLiteCore

extension SQLGrammar {
  /// The grammar of the libsqlite3 that runs.
  public static let linked = SQLGrammar(
    version: Capabilities.versionNumber, options: Capabilities.compileOptions)
}

extension Connection {
  /// Returns the schema as a model: what the texts in `sqlite_schema` say.
  ///
  ///     let schema = try connection.schemaModel()
  ///     print(schema.table("note")?.checks ?? [])
  ///
  /// Temporary tables and attached databases are left out. A text that is not understood is in
  /// `SQLSchema.unread` and stops nothing; one that is not UTF-8 has replacement characters.
  ///
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*) in the bytes of all texts.
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
  /// Returns the schema as a model, as ``SQLiteCore/Connection/schemaModel()`` does.
  ///
  /// - Throws: `SQLiteError`.
  public func schemaModel() throws -> SQLSchema {
    try read { try $0.schemaModel() }
  }

  /// As the blocking ``schemaModel()``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func schemaModel() async throws -> SQLSchema {
    try await read { try $0.schemaModel() }
  }
}
