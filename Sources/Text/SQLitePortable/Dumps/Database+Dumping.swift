public import SQLiteCore

extension Database {
  /// Writes the whole database, as it is at one moment, into a file, which is there in whole or as it
  /// was before.
  ///
  ///     try database.dump(to: .spon(path: "app.spon"))
  ///
  /// - Parameters:
  ///   - file: The file. One that exists is replaced; into a database of SQLite the content is copied
  ///     in one transaction. The tokens of writes of a cluster are left out.
  ///   - progress: Called for each table and each thousand rows; what it throws ends the dump.
  /// - Throws: ``DumpError`` for what no text can say, `SQLiteError`, or what `progress` throws.
  public func dump(
    to file: DataFile, progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    guard let format = file.format else { return try copy(to: file.path, progress) }
    try withoutActuallyEscaping(progress) { progress in
      // At a server that is lost it runs again, and writes the file anew.
      try read { try Self.dump($0, to: file.path, format, progress) }
    }
  }

  /// As ``dump(to:progress:)``, without blocking the task. Cancelling the task ends it.
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

  /// Replaces all that the database holds by the content of a file. If it throws, everything is
  /// as it was.
  ///
  /// A database of a cluster must be empty. It is filled in many transactions: if it throws, or the program
  /// ends, the same call goes on where it stopped; until then the table `magicdata_restore` is there.
  ///
  /// - Parameters:
  ///   - file: What `dump(to:progress:)` wrote, or a database file.
  ///   - deadline: When it must be finished. It stops also what SQL of a hostile text does.
  ///   - progress: Called for each thousand rows; what it throws ends it.
  /// - Throws: ``DumpError`` that names the line, `SQLiteError`, or what `progress` throws.
  public func restore(
    from file: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    try withoutActuallyEscaping(progress) {
      try restore(
        from: file, CopyWork(deadline: deadline, cancellation: CancellableWork(), report: $0))
    }
  }

  /// As ``restore(from:deadline:progress:)``, without blocking the task. Cancelling the task ends
  /// it, also in the midst of what SQL of a hostile text does.
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
      var filling = ClusterFilling(try source ?? .reading(file.path), self, work)
      return try filling.run()
    }
    guard let source else {
      return try Database.reading(file.path).copy(
        to: self, deadline: work.deadline, work.report)
    }
    try source.backup(to: self, deadline: work.deadline) { _ in try work.check() }
  }

  /// Makes a database in memory of a file.
  ///
  ///     let database = try Database.memory(restoring: .spon(path: "app.spon"))
  ///
  /// - Parameters:
  ///   - file: What `dump(to:progress:)` wrote, or a database file.
  ///   - options: How to open it.
  /// - Throws: As `restore(from:deadline:progress:)`.
  public static func memory(
    restoring file: DataFile, options: Options = Options()
  ) throws -> Database {
    let database = try memory(options: options)
    try database.restore(from: file)
    return database
  }

  /// The content of a text as a database that nobody else has.
  private func content(
    of path: String, _ format: any DumpFormat, _ work: CopyWork
  ) throws -> Database {
    var options = Options()
    // Functions and collations that the schema needs are prepared as for the database itself.
    options.prepareConnection = self.options.prepareConnection
    // Rows come before the tables that they lead to.
    options.foreignKeys = false
    // The database goes away with this value.
    options.synchronous = .offMayCorruptOnPowerCut
    // Schemas from long ago may have texts in double quotes.
    options.doubleQuotedStrings = true
    options.allowsSchemaDamage = true
    options.limits[.attachedDatabases] = 0
    let database = try Database.temporary(options: options)
    if server == nil { try database.setPageSize(pageSize) }
    work.cancellation.onCancel { [weak database] in database?.interrupt() }
    var reader = try DumpReader(path, format, work)
    try reader.fill(database)
    return database
  }
}

extension DataFile {
  /// Copies a database from one kind of file to another, in the memory of one row.
  ///
  /// - Parameters:
  ///   - target: The file to write. One that exists is replaced in whole, or, if this throws, not at
  ///     all.
  ///   - deadline: When the reading of a text must be finished.
  ///   - progress: Called for each thousand rows; what it throws ends it.
  /// - Throws: As `SQLiteCore.Database.dump(to:progress:)` and
  ///   `SQLiteCore.Database.restore(from:deadline:progress:)`.
  public func copy(
    to target: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: (DumpProgress) throws -> Void = { _ in }
  ) throws {
    try withoutActuallyEscaping(progress) {
      try copy(
        to: target, CopyWork(deadline: deadline, cancellation: CancellableWork(), report: $0))
    }
  }

  /// As ``copy(to:deadline:progress:)``, without blocking the task. Cancelling the task ends it.
  public func copy(
    to target: DataFile, deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (DumpProgress) throws -> Void = { _ in }
  ) async throws {
    try await CancellableWork.run(on: Worker(), progress) {
      try copy(to: target, CopyWork(deadline: deadline, cancellation: $0, report: $1))
    }
  }

  private func copy(to target: DataFile, _ work: CopyWork) throws {
    if case .sqlite(let path) = self {
      return try Database.reading(path).dump(to: target, progress: work.report)
    }
    if case .sqlite(let path) = target {
      return try Database.filling(path) { try $0.restore(from: self, work) }
    }
    let database = try Database.temporary()
    try database.restore(from: self, work)
    try database.dump(to: target, progress: work.report)
  }
}
