import CSQLite

extension DatabaseFile {
  /// Makes a fresh connection behave as the options say, and runs what the program and the layers above do first on
  /// each.
  func prepare(_ connection: Connection, forReading: Bool) throws {
    connection.beginAccess()
    _ = connection.state.enterBare()
    defer {
      connection.interruption.deadline = nil
      connection.state.leaveBare()
      connection.endAccess()
    }
    // Before the schema is read, which may be SQL of another program.
    for (limit, value) in options.limits { try connection.setLimit(limit, to: value) }
    // A server has set up its session itself.
    if server == nil {
      connection.interruption.deadline = options.accessTimeout.map { .now + $0 }
      try configure(connection, forReading: forReading)
    }
    try options.prepareConnection?(connection)
    if !forReading {
      try connection.setUp()
    } else if server == nil {
      _ = try connection.pragma("query_only", "=1")
    }
  }

  private func configure(_ connection: Connection, forReading: Bool) throws {
    let handle = connection.handle
    func set(_ name: String, _ value: String) throws(SQLiteError) {
      _ = try connection.pragma(name, "=\(value)")
    }
    try handle.configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false)
    try handle.configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, options.trustedSchema)
    try handle.configure(SQLITE_DBCONFIG_DQS_DML, options.doubleQuotedStrings)
    try handle.configure(SQLITE_DBCONFIG_DQS_DDL, options.doubleQuotedStrings)
    try handle.configure(SQLITE_DBCONFIG_ENABLE_FKEY, options.foreignKeys)
    // An index of the schema may need it.
    try DecimalOrder.offer(on: handle)
    if let check = options.checkBeforeUse, connection.environment.number == 1 {
      do {
        try check(connection)
      } catch {
        // Nothing of the file changes: a log that somebody has left is not copied into it either.
        try handle.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        throw error
      }
    }
    let isWritable = options.mode != .readOnly
    // SQLite opens a file that it may not write for reading instead, and says nothing.
    if isWritable, unsafe sqlite3_db_readonly(handle.pointer, "main") == 1 {
      throw SQLiteError(.readOnly, "there is no permission to write the file")
    }
    if isWritable, !forReading { try setJournalMode(connection) }
    try set("synchronous", synchronous.rawValue)
    try set("recursive_triggers", options.recursiveTriggers ? "1" : "0")
    try set("journal_size_limit", "\(options.journalSizeLimit)")
    if options.checksCells { try set("cell_size_check", "1") }
    if let cacheSize = options.cacheSize { try set("cache_size", "-\(cacheSize)") }
    if let mappedSize = options.mappedSize { try set("mmap_size", "\(mappedSize)") }
    if let secureDelete = options.secureDelete { try set("secure_delete", secureDelete.rawValue) }
    #if canImport(Darwin)
      try set("fullfsync", "1")
      try set("checkpoint_fullfsync", "1")
    #endif
    // Last, since it forbids to change the journal mode by SQL.
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, !options.allowsSchemaDamage)
    // Reads the first page, so that a file that is not a database is refused now.
    _ = try connection.pragma("schema_version")
    try checkSchemaSize(connection)
    try checkModules(connection)
    // Those who name the modules that they allow don't trust the file.
    connection.hooks.mayTrustSearch = !forReading && isWritable && options.allowedModules == nil
  }

  /// With `full`, SQLite does not sync the folder after deleting a journal, so that a power cut can
  /// bring the journal back, which undoes the last commit.
  private var synchronous: Database.Options.Synchronous {
    let losesDeletion = options.journalMode == .delete && options.synchronous == .full
    return losesDeletion ? .extra : options.synchronous
  }

  private func setJournalMode(_ connection: Connection) throws {
    guard case .file = location, !options.keepsJournalMode || wasMade else { return }
    let wanted = options.journalMode.rawValue
    // Taking an exclusive lock, this may meet others who do the same: SQLite then asks the busy
    // handler, except for one deadlock that it reports at once.
    let began = Moment.now
    while true {
      do {
        let mode = try connection.pragma("journal_mode", "=\(wanted)")
        guard mode == .text(wanted) || options.vfs != nil else {
          throw SQLiteError(.error, "the journal mode \(wanted) is not available for this file")
        }
        return
      } catch let error as SQLiteError where error.code.primary == .busy {
        guard Moment.now - began < options.busyTimeout else { throw error }
        sqlite3_sleep(5)
      }
    }
  }

  /// Throws if the schema has more SQL than the options allow, or its views come to more.
  private func checkSchemaSize(_ connection: Connection) throws {
    if let limit = options.maximumSchemaSize {
      let size =
        try connection.firstRow(
          "SELECT sum(length(CAST(sql AS BLOB))) FROM sqlite_schema", as: Int?.self) ?? 0
      guard size ?? 0 <= limit else {
        throw SQLiteError(.tooBig, "the schema has more than \(limit) bytes of SQL")
      }
    }
    if let limit = options.maximumViewSize {
      var views = ViewSizes()
      // SQLite takes the type in any case.
      try connection.forEachRow(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'view' COLLATE NOCASE AND sql IS NOT NULL"
      ) { views.add(try $0.text(at: 0), sql: try $0.text(at: 1)) }
      guard !views.exceed(limit) else {
        throw SQLiteError(
          .tooBig, "a view comes to more than \(limit) bytes of SQL with all that it names")
      }
    }
  }

  /// Throws if a virtual table of the schema has a module that is not allowed, or arguments that nobody knows.
  private func checkModules(_ connection: Connection) throws {
    guard let modules = options.allowedModules else { return }
    let check = SchemaCheck(modules: Set(modules.map(asciiLowercased)))
    try connection.forEachRow("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL") { row in
      try check.check(try row.text(at: 0), sql: try row.text(at: 1))
    }
  }
}
