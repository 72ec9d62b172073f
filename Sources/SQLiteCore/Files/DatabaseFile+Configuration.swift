import CSQLite

extension DatabaseFile {
  /// Configures a new connection according to the options. Then runs the setup closure of the
  /// program and, if the connection isn't for reading, the setup closures of other modules.
  func prepare(_ connection: Connection, forReading: Bool) throws {
    connection.beginAccess()
    _ = connection.state.enterBare()
    defer {
      connection.interruption.deadline = nil
      connection.state.leaveBare()
      connection.endAccess()
    }
    // Set limits before the schema is read, because it may contain SQL of another program.
    for (limit, value) in options.limits { try connection.setLimit(limit, to: value) }
    // A server configures its sessions itself.
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
    // If the file can't be read, or is rejected, closing the connection must not change it, so
    // don't checkpoint an existing log into it.
    try handle.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
    try handle.add(options.extensions, isTrusted: !options.isUntrusted)
    try handle.configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, options.trustedSchema)
    try handle.configure(SQLITE_DBCONFIG_DQS_DML, options.doubleQuotedStrings)
    try handle.configure(SQLITE_DBCONFIG_DQS_DDL, options.doubleQuotedStrings)
    try handle.configure(SQLITE_DBCONFIG_ENABLE_FKEY, options.foreignKeys)
    // An index in the schema may use the collation.
    try DecimalOrder.registerOnDemand(on: handle)
    if let check = options.checkBeforeUse, connection.environment.number == 1 {
      try check(connection)
    }
    let isWritable = options.mode != .readOnly
    // If SQLite may not write a file, it silently opens the file for reading only.
    if isWritable, unsafe sqlite3_db_readonly(handle.pointer, "main") == 1 {
      throw SQLiteError(
        .readOnly, "the file is not writable; change its permissions, or open it as read-only")
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
    // Set this last, because it prevents SQL from changing the journal mode.
    try handle.configure(SQLITE_DBCONFIG_DEFENSIVE, !options.allowsSchemaDamage)
    // Reads the first page, so that a file that isn't a database is rejected now.
    _ = try connection.pragma("schema_version")
    try handle.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
    try checkSchemaSize(connection)
    try checkModules(connection)
    // A program that restricts the modules doesn't trust the file.
    connection.hooks.mayTrustSearch = !forReading && isWritable && options.allowedModules == nil
  }

  /// The value of `PRAGMA synchronous`: that of the options, or `extra` instead of `full` in the
  /// journal mode `delete`. With `full`, SQLite wouldn't sync the folder after it has deleted a
  /// journal, so the journal could reappear after a power failure and undo the last commit.
  private var synchronous: Database.Options.Synchronous {
    let losesDeletion = options.journalMode == .delete && options.synchronous == .full
    return losesDeletion ? .extra : options.synchronous
  }

  private func setJournalMode(_ connection: Connection) throws {
    guard case .file = location, !options.keepsJournalMode || wasCreated else { return }
    let wanted = options.journalMode.rawValue
    // This takes an exclusive lock, so it may conflict with connections that do the same. SQLite
    // then calls the busy handler, except for one deadlock, which it reports immediately.
    let began = Moment.now
    while true {
      do {
        let mode = try connection.pragma("journal_mode", "=\(wanted)")
        guard mode == .text(wanted) || options.vfs != nil else {
          throw SQLiteError(
            .error, "the journal mode \(wanted) is not available for this file; choose another one")
        }
        return
      } catch let error as SQLiteError where error.code.primary == .busy {
        guard Moment.now - began < options.busyTimeout else { throw error }
        sqlite3_sleep(5)
      }
    }
  }

  /// Throws if the schema contains more SQL than the options allow, or if a view expands to more
  /// SQL than they allow.
  private func checkSchemaSize(_ connection: Connection) throws {
    if let limit = options.maximumSchemaSize {
      let size =
        try connection.firstRow(
          "SELECT sum(length(CAST(sql AS BLOB))) FROM sqlite_schema", as: Int?.self) ?? 0
      guard size ?? 0 <= limit else {
        throw SQLiteError(
          .tooBig, "the schema has more than \(limit) bytes of SQL, the value of maximumSchemaSize")
      }
    }
    if let limit = options.maximumViewSize {
      var views = ViewSizes()
      // SQLite ignores the case of the type.
      try connection.forEachRow(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'view' COLLATE NOCASE AND sql IS NOT NULL"
      ) { views.add(try $0.text(at: 0), sql: try $0.text(at: 1)) }
      guard !views.anyExceeds(limit) else {
        throw SQLiteError(
          .tooBig,
          "a view and the views that it uses have more than \(limit) bytes of SQL, the "
            + "value of maximumViewSize")
      }
    }
  }

  /// Throws if a virtual table in the schema uses a module that isn't allowed, or an unknown
  /// tokenizer for full-text search.
  private func checkModules(_ connection: Connection) throws {
    guard let modules = options.allowedModules else { return }
    let check = VirtualTableCheck(modules: Set(modules.map(asciiLowercased)))
    try connection.forEachRow("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL") { row in
      try check.check(try row.text(at: 0), sql: try row.text(at: 1))
    }
  }
}
