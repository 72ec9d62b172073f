public import Essentials
import SQLiteCore
import SQLiteMapping

extension CodableStore {
  /// Makes the bytes of a database file with all items of all types.
  ///
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*), in memory too.
  public func data() throws -> Data {
    Data(try database.read { try Self.content(of: $0) })
  }

  /// As ``data()``, without blocking the task.
  public func data() async throws -> Data {
    try await database.read { Data(try Self.content(of: $0)) }
  }

  /// Replaces all items. If it throws, everything is as it was.
  ///
  /// - Parameter data: The result of `data()` of a store.
  /// - Throws: ``CodableStoreError/notAStore(_:)``, or `SQLiteError`.
  public func set(data: Data) throws {
    let source = try Self.source(data)
    try database.write { try Self.replaceContent(of: $0, by: source) }
  }

  /// As ``set(data:)``, without blocking the task.
  public func set(data: Data) async throws {
    try await database.write { try Self.replaceContent(of: $0, by: Self.source(data)) }
  }

  /// Writes all items into a database file. The file is replaced as a whole, or stays as it was.
  ///
  /// A new file appears when it is complete. SQLite writes into an existing one, in one transaction: it may be open
  /// elsewhere, and the remains of a crash are settled first. The file becomes a store without any other tables.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``. A file there must be a database, and not that of
  ///   this store, whose changes last at once.
  /// - Throws: ``CodableStoreError/noFile``, or `SQLiteError`, such as for a URL that names no file.
  public func save(to url: URL? = nil) throws {
    let path = try path(of: url)
    try database.read { try save($0, to: path) }
  }

  /// As ``save(to:)``, without blocking the task.
  public func save(to url: URL? = nil) async throws {
    let path = try path(of: url)
    try await database.read { [self] in try save($0, to: path) }
  }

  /// Replaces all items by those of a database file. If it throws, everything is as it was.
  ///
  /// SQLite reads the file: it may be open elsewhere.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: ``CodableStoreError``, or `SQLiteError`, such as for a file that is not there or a URL that
  ///   names none.
  public func load(from url: URL? = nil) throws {
    let path = try path(of: url)
    try database.write { try Self.load(path, into: $0) }
  }

  /// As ``load(from:)``, without blocking the task.
  public func load(from url: URL? = nil) async throws {
    let path = try path(of: url)
    try await database.write { try Self.load(path, into: $0) }
  }

  private func path(of url: URL?) throws -> String {
    guard let url = url ?? fileURL else { throw CodableStoreError.noFile }
    return try url.filePath()
  }

  private func save(_ connection: Connection, to path: String) throws {
    try Database.filling(path) { target in
      guard !target.isOnFile(of: database) else {
        throw SQLiteError(.misuse, "a store cannot be saved into its own file: \(path)")
      }
      let copy = try Database.memory()
      try copy.setPageSize(target.pageSize)
      try copy.write { try Self.copyItems(from: connection, to: $0) }
      try copy.backup(to: target)
    }
  }

  private static func load(_ path: String, into connection: Connection) throws {
    let source: Database
    do {
      source = try Database.reading(path)
    } catch  where error.code.primary == .notADatabase {
      throw CodableStoreError.notADatabase(error)
    }
    try replaceContent(of: connection, by: source)
  }

  private static func content(of connection: Connection) throws -> [UInt8] {
    let copy = try Database.memory()
    try copy.write { try copyItems(from: connection, to: $0) }
    return try copy.serialized()
  }

  private static func source(_ data: Data) throws -> Database {
    do {
      return try Database.memory(serialized: Array(data))
    } catch let error as SQLiteError {
      throw CodableStoreError.notADatabase(error)
    }
  }

  private static func replaceContent(of connection: Connection, by source: Database) throws {
    try source.read { source in
      do {
        let isEmpty = try source.pragma("page_count") == .integer(0)
        guard try isEmpty || CollectionCatalog(connection: source).exists() else {
          throw CodableStoreError.notAStore("it has no table magicdata_collections")
        }
      } catch let error as SQLiteError {
        throw CodableStoreError.notAStore(error.message)
      }
      try CollectionCatalog(connection: connection).removeAll()
      try copyItems(from: source, to: connection)
    }
  }

  private static func copyItems(from source: Connection, to target: Connection) throws {
    let sources = CollectionCatalog(connection: source)
    guard try sources.exists() else {
      // A store without items is one, too.
      return try CollectionCatalog(connection: target).make()
    }
    try CollectionCatalog(connection: target).make()
    for name in try sources.names() {
      guard let from = try sources.entry(name) else { continue }
      let to = try CollectionCatalog(connection: target).add(
        name, keys: from.keys, isFilledNext: true)
      var insert = try target.statement(
        "INSERT INTO \(identifier: to.table) (position, key, item) VALUES (?, ?, ?)")
      try source.forEachRow("SELECT position, key, item FROM \(identifier: from.table)") { row in
        try insert.run(row.value(at: 0), row.value(at: 1), row.value(at: 2))
      }
      try CollectionCatalog(connection: target).makeIndex(to.table)
    }
  }
}
