public import SQLiteCore

extension Database {
  /// Writes a snapshot of the whole database to a file. If the call throws, the file is unchanged.
  ///
  ///     try database.dump(to: .spon(path: "app.spon"))
  ///
  /// - Parameters:
  ///   - file: The file to write. An existing text file is replaced. An existing SQLite database is
  ///     overwritten in one transaction. The internal table of a cluster's clients is omitted.
  ///   - progress: A closure that is called for each table and every thousand rows or, if `file` is
  ///     a SQLite database, after each part of its pages. If it throws, the dump ends.
  /// - Throws: ``DumpError`` if a value can't be represented as text, `SQLiteError` if the database
  ///   can't be read or the file can't be written, or any error that `progress` throws.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func dump(
    to file: DataFile, progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    guard let format = file.format else { return try copy(to: file.path, progress) }
    try withoutActuallyEscaping(progress) { progress in
      // If the connection to a server is lost, the read is repeated and writes the file from the
      // start.
      try read { try Self.dump($0, to: file.path, format, progress) }
    }
  }

  /// Writes a snapshot of the whole database to a file, and suspends the task meanwhile. Cancelling
  /// the task ends the dump.
  ///
  /// See the blocking ``dump(to:progress:)`` for details.
  ///
  /// - Parameters:
  ///   - file: The file to write. An existing text file is replaced. An existing SQLite database is
  ///     overwritten in one transaction. The internal table of a cluster's clients is omitted.
  ///   - progress: A closure that is called for each table and every thousand rows or, if `file` is
  ///     a SQLite database, after each part of its pages. If it throws, the dump ends.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func dump(
    to file: DataFile, progress: @escaping @Sendable (DumpProgress) throws -> Void = { _ in }
  ) async throws {
    guard let format = file.format else {
      return try await CancellableWork.run(on: Worker(), progress) { [self] in
        try copy(to: file.path, $1)
      }
    }
    try await read { try Self.dump($0, to: file.path, format, progress) }
  }

  private static func dump(
    _ connection: Connection, to path: String, _ format: any DumpFormat,
    _ progress: @escaping (DumpProgress) throws -> Void
  ) throws {
    let file = try TextWriter(path)
    var writer = DumpWriter(connection, format, file, progress)
    try writer.run()
    try file.finish()
  }

  /// Replaces the whole content of the database with the content of a file. If the call throws, the
  /// database is unchanged, unless it belongs to a cluster.
  ///
  /// A database of a cluster must be empty. It is filled in many transactions. If the call throws
  /// or the program ends, make the same call again to continue. Until it is complete, the database
  /// contains the table `magicdata_restore`.
  ///
  /// - Parameters:
  ///   - file: A file that `dump(to:progress:)` wrote, or a database file.
  ///   - deadline: The time by which the restore must be complete; nil for no limit. The deadline
  ///     also ends a statement that a malicious file runs.
  ///   - progress: A closure that is called at least every thousand rows or, if the pages of a
  ///     SQLite database are copied, after each part of them. If it throws, the restore ends.
  /// - Throws: ``DumpError`` if the file isn't a valid dump or doesn't fit the database,
  ///   `SQLiteError` if the file can't be read before the deadline or the database can't be
  ///   written, or any error that `progress` throws.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func restore(
    from file: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    try withoutActuallyEscaping(progress) {
      try restore(
        from: file, CopyWork(deadline: deadline, cancellation: CancellableWork(), report: $0))
    }
  }

  /// Replaces the whole content of the database with the content of a file, and suspends the task
  /// meanwhile. Cancelling the task ends the restore, even during a statement that a malicious file
  /// runs.
  ///
  /// See the blocking ``restore(from:deadline:progress:)`` for details.
  ///
  /// - Parameters:
  ///   - file: A file that `dump(to:progress:)` wrote, or a database file.
  ///   - deadline: The time by which the restore must be complete; nil for no limit. The deadline
  ///     also ends a statement that a malicious file runs.
  ///   - progress: A closure that is called at least every thousand rows or, if the pages of a
  ///     SQLite database are copied, after each part of them. If it throws, the restore ends.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func restore(
    from file: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (DumpProgress) throws -> Void = { _ in }
  ) async throws {
    try await CancellableWork.run(on: Worker(), progress) { [self] in
      try restore(
        from: file, CopyWork(deadline: deadline, cancellation: $0, report: $1))
    }
  }

  func restore(from file: DataFile, _ work: CopyWork) throws {
    let source = try file.format.map { try content(of: file.path, $0, work) }
    if server != nil {
      var filling = ClusterFilling(try source ?? .reading(file.path, key: nil), self, work)
      return try filling.run()
    }
    guard let source else {
      return try Database.reading(file.path, key: key).copy(
        to: self, deadline: work.deadline, work.report)
    }
    try source.backup(to: self, deadline: work.deadline) { _ in try work.check() }
  }

  /// Creates a database in memory with the content of a file.
  ///
  ///     let database = try Database.memory(restoring: .spon(path: "app.spon"))
  ///
  /// - Parameters:
  ///   - file: A file that `dump(to:progress:)` wrote, or a database file.
  ///   - options: The options of the new database.
  /// - Returns: The new database.
  /// - Throws: ``DumpError`` if the file isn't a valid dump, or `SQLiteError` if the file can't be
  ///   read.
  public static func memory(
    restoring file: DataFile, options: Options = Options()
  ) throws -> Database {
    let database = try memory(options: options)
    try database.restore(from: file)
    return database
  }

  /// Returns the content of a text file as a private temporary database.
  private func content(
    of path: String, _ format: any DumpFormat, _ work: CopyWork
  ) throws -> Database {
    var options = Options()
    // The schema may need the extensions of the database itself, and the functions and collations
    // that the program prepares for it.
    options.extensions = self.options.extensions
    options.prepareConnection = self.options.prepareConnection
    // Rows may precede the rows that they reference.
    options.foreignKeys = false
    // The database is deleted with this value, so it needn't survive a power failure.
    options.synchronous = .offMayCorruptOnPowerCut
    // Old schemas may contain strings in double quotes.
    options.doubleQuotedStrings = true
    options.allowsSchemaDamage = true
    options.limits[.attachedDatabases] = 0
    // Pages can be copied to an encrypted database only from another one.
    options.key = key
    let database = try Database.temporary(options: options)
    if server == nil { try database.setPageSize(pageSize) }
    work.cancellation.onCancel { [weak database] in database?.interrupt() }
    var reader = try DumpReader(path, format, work)
    try reader.fill(database)
    return database
  }
}

extension DataFile {
  /// Copies a database to a file of the same or another format, with only one row in memory at a
  /// time. If the call throws, the target is unchanged.
  ///
  /// - Parameters:
  ///   - target: The file to write. An existing text file is replaced. An existing SQLite database
  ///     is overwritten in one transaction.
  ///   - deadline: The time by which a text file must be read; nil for no limit. It is ignored if
  ///     this file is a SQLite database.
  ///   - progress: A closure that is called at least every thousand rows or, if the pages of a
  ///     SQLite database are copied, after each part of them. If it throws, the copy ends.
  /// - Throws: The errors of `SQLiteCore.Database.dump(to:progress:)` and
  ///   `SQLiteCore.Database.restore(from:deadline:progress:)`.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func copy(
    to target: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    try withoutActuallyEscaping(progress) {
      try copy(
        to: target, CopyWork(deadline: deadline, cancellation: CancellableWork(), report: $0))
    }
  }

  /// Copies a database to a file of the same or another format, and suspends the task meanwhile.
  /// Cancelling the task ends the copy.
  ///
  /// See the blocking ``copy(to:deadline:progress:)`` for details.
  ///
  /// - Parameters:
  ///   - target: The file to write. An existing text file is replaced. An existing SQLite database
  ///     is overwritten in one transaction.
  ///   - deadline: The time by which a text file must be read; nil for no limit. It is ignored if
  ///     this file is a SQLite database.
  ///   - progress: A closure that is called at least every thousand rows or, if the pages of a
  ///     SQLite database are copied, after each part of them. If it throws, the copy ends.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func copy(
    to target: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (DumpProgress) throws -> Void = { _ in }
  ) async throws {
    try await CancellableWork.run(on: Worker(), progress) {
      try copy(to: target, CopyWork(deadline: deadline, cancellation: $0, report: $1))
    }
  }

  /// Copies a text file to a new database with a key.
  package func copy(
    toDatabase path: String, key: Database.Key?, progress: (DumpProgress) throws -> Void
  ) throws {
    try withoutActuallyEscaping(progress) { progress in
      try Database.filling(path, key: key) {
        try $0.restore(
          from: self,
          CopyWork(deadline: nil, cancellation: CancellableWork(), report: progress))
      }
    }
  }

  private func copy(to target: DataFile, _ work: CopyWork) throws {
    if case .sqlite(let path) = self {
      return try Database.reading(path, key: nil).dump(to: target, progress: work.report)
    }
    if case .sqlite(let path) = target {
      return try Database.filling(path, key: nil) { try $0.restore(from: self, work) }
    }
    let database = try Database.temporary()
    try database.restore(from: self, work)
    try database.dump(to: target, progress: work.report)
  }
}
