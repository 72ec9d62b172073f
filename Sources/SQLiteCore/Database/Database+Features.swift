extension Database {
  /// A feature that a local database has, but a cluster's database doesn't.
  ///
  ///     if database.has(.backup) { try database.backup(to: copy) }
  public enum Feature: String, CaseIterable, Sendable {
    /// Functions and aggregates that the program adds to SQL.
    case functions = "custom functions"
    /// Collations that the program adds to SQL.
    case collations = "custom collations"
    /// An authorizer, which allows or denies statements (``Connection/setAuthorizer(_:)``).
    case authorization = "authorizers"
    /// A trace of the statements that run (``Connection/trace(showsValues:_:)``).
    case tracing = "tracing"
    /// Incremental blob I/O: reading and writing parts of a blob in place
    /// (``Connection/withBlob(table:column:rowID:schema:isWritable:_:)``).
    case blobs = "incremental blob I/O"
    /// Backups, and serialization to bytes.
    case backup = "backups"
    /// Operations on files, such as ATTACH, VACUUM and checkpoints.
    case files = "operations on files"
    /// Changes of a connection's settings inside a transaction. Undo and patches need them to turn
    /// triggers and foreign keys off.
    case settings = "settings that change inside a transaction"
    /// Extensions with native code (``Options/extensions``).
    case extensions = "extensions"
    /// Reports of the rows that a transaction has changed. Without it, observers are only notified
    /// that something has changed.
    case rowChanges = "changes of individual rows"
  }

  /// Returns whether this database has a feature. A method that needs a missing feature throws
  /// ``ResultCode/authorization``.
  ///
  /// - Parameter feature: The feature to check.
  public func has(_ feature: Feature) -> Bool { server == nil }

  package func require(_ feature: Feature) throws(SQLiteError) {
    if let server { throw feature.refusal(server.name) }
  }
}

extension Connection {
  /// Whether a server hosts the database.
  package var isRemote: Bool { handle.remote != nil }

  /// The number of values that a statement can bind by default: the server's limit or, for a local
  /// database, 999, which is the lowest default of all SQLite versions.
  package var maximumParameterCount: Int { handle.remote?.maximumParameterCount ?? 999 }

  func require(_ feature: Database.Feature) throws(SQLiteError) {
    if isRemote { throw feature.refusal("the cluster's database") }
  }
}

extension Database.Feature {
  /// Returns the error that a method throws if the database with a name lacks this feature.
  func refusal(_ name: String) -> SQLiteError {
    SQLiteError(.authorization, "\(name) does not support \(rawValue)")
  }
}
