extension Database {
  /// What a database that is here can do, and one of a cluster cannot.
  ///
  ///     if database.has(.backup) { try database.backup(to: copy) }
  public enum Feature: String, CaseIterable, Sendable {
    /// Functions and aggregates of the program's own in SQL.
    case functions = "functions of the program's own"
    /// Collations of the program's own.
    case collations = "collations of the program's own"
    /// Decisions about each statement (``Connection/setAuthorizer(_:)``).
    case authorization = "an authorizer"
    /// Events of statements that run (``Connection/trace(showsValues:_:)``).
    case tracing = "tracing"
    /// Parts of a blob, read and written in place (``Connection/withBlob(table:column:rowID:schema:isWritable:_:)``).
    case blobs = "blobs that are opened"
    /// Copies of the pages, and the file as bytes.
    case backup = "a backup of its pages"
    /// ATTACH, VACUUM, checkpoints: what is about files.
    case files = "work on its files"
    /// Settings that are switched within a transaction, as undo and patches need them.
    case settings = "settings that change within a transaction"
    /// Which rows a transaction has changed. Without it observers are told only that something has.
    case rowChanges = "changes of single rows"
  }

  /// Returns whether this database can do something. What it cannot throws ``ResultCode/authorization``.
  public func has(_ feature: Feature) -> Bool { server == nil }

  package func require(_ feature: Feature) throws(SQLiteError) {
    if let server { throw feature.refusal(server.name) }
  }
}

extension Connection {
  /// Whether the database is one of a server.
  package var isRemote: Bool { handle.remote != nil }

  /// How many values a statement may have in any case: SQLite takes more if it is told to.
  package var maximumParameterCount: Int { handle.remote?.maximumParameterCount ?? 999 }

  func require(_ feature: Database.Feature) throws(SQLiteError) {
    if isRemote { throw feature.refusal("the cluster's database") }
  }
}

extension Database.Feature {
  fileprivate func refusal(_ name: String) -> SQLiteError {
    SQLiteError(.authorization, "\(name) does not have \(rawValue)")
  }
}
