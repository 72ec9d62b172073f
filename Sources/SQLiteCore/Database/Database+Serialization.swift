import CSQLite

extension Database {
  /// Returns the database as the bytes of a file (`sqlite3_serialize`).
  ///
  /// - Throws: ``SQLiteError``, also if this libsqlite3 cannot do it.
  /// - Complexity: O(*n*) in the size of the database, in memory too.
  public func serialized() throws -> [UInt8] {
    try Database.checkSerialize()
    return try read { try $0.serialized() }
  }

  /// As the blocking ``serialized()``, suspending the task.
  ///
  /// - Throws: ``SQLiteError``, or `CancellationError`.
  /// - Complexity: O(*n*) in the size of the database, in memory too.
  public func serialized() async throws -> [UInt8] {
    try Database.checkSerialize()
    return try await read { try $0.serialized() }
  }

  /// Opens a database in memory with the content of a file (`sqlite3_deserialize`).
  ///
  /// - Parameters:
  ///   - bytes: What ``serialized()`` returned, or what a closed database file holds.
  ///   - options: How to open it.
  /// - Throws: ``SQLiteError`` if the bytes are not a database.
  public static func memory(
    serialized bytes: [UInt8], options: Options = Options()
  ) throws -> Database {
    try checkSerialize()
    let database = try memory(options: options)
    guard !bytes.isEmpty else { return database }
    try database.withoutTransaction {
      try $0.deserialize(bytes, checksCells: options.checksCells)
    }
    return database
  }

  private static func checkSerialize() throws(SQLiteError) {
    guard Capabilities.hasSerialize else {
      throw SQLiteError(.error, "this libsqlite3 cannot serialize databases")
    }
  }
}

extension Connection {
  fileprivate func serialized() throws(SQLiteError) -> [UInt8] {
    _ = try pragma("schema_version")
    var size: Int64 = 0
    let start = unsafe sqlite3_serialize(handle.pointer, "main", &size, 0)
    defer { unsafe sqlite3_free(start) }
    // A database that was never written has no bytes.
    guard unsafe start != nil || size == 0 else { throw SQLiteError(.outOfMemory) }
    return unsafe copiedBytes(UnsafeRawPointer(start), count: Int(size))
  }

  /// Replaces the content of the database in memory.
  fileprivate func deserialize(_ bytes: [UInt8], checksCells: Bool) throws(SQLiteError) {
    let size = Int64(bytes.count)
    guard let copy = unsafe sqlite3_malloc64(UInt64(size)) else { throw SQLiteError(.outOfMemory) }
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe copy.copyMemory(from: start, byteCount: buffer.count)
    }
    let content = unsafe copy.assumingMemoryBound(to: UInt8.self)
    // Bytes 18 and 19 say whether the file has a write-ahead log, which memory cannot have.
    for index in [18, 19] where bytes.count > index && bytes[index] == 2 {
      unsafe content[index] = 1
    }
    // SQLite frees the copy, also if this fails.
    try handle.check(
      unsafe sqlite3_deserialize(
        handle.pointer, "main", content, size, size,
        UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)))
    noteReplacement()
    _ = try pragma("schema_version")
    if checksCells { _ = try pragma("cell_size_check", "=1") }
  }
}
