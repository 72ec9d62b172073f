public import Essentials
import SQLiteCore
import SQLiteMapping

extension CodableStore {
  /// Returns all items of all types as the bytes of a database file.
  ///
  /// - Returns: Data that you can pass to `set(data:)` or to the initializer of another store.
  /// - Throws: `SQLiteError` if the database can't be read.
  /// - Complexity: O(*n*) in the size of the store, in time and in memory.
  public func data() throws -> Data {
    Data(try database.read { try Self.content(of: $0) })
  }

  /// Returns all items of all types as the bytes of a database file, and suspends the task
  /// meanwhile.
  ///
  /// See the blocking ``data()`` for details.
  ///
  /// - Returns: Data that you can pass to `set(data:)` or to the initializer of another store.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func data() async throws -> Data {
    try await database.read { Data(try Self.content(of: $0)) }
  }

  /// Replaces all items with those in `data`. If the call throws, the store is unchanged.
  ///
  /// - Parameter data: The bytes that `data()` of this or another store returned.
  /// - Throws: ``CodableStoreError/notAStore(_:)`` if the data isn't a store, or `SQLiteError` if
  ///   the database can't be written.
  public func set(data: Data) throws {
    let source = try Self.source(data)
    try database.write { try Self.replaceContent(of: $0, by: source) }
  }

  /// Replaces all items with those in `data`, and suspends the task meanwhile.
  ///
  /// See the blocking ``set(data:)`` for details.
  ///
  /// - Parameter data: The bytes that `data()` of this or another store returned.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func set(data: Data) async throws {
    try await database.write { try Self.replaceContent(of: $0, by: Self.source(data)) }
  }

  /// Saves all items in a database file. If the call throws, the file is unchanged.
  ///
  /// A new file appears only when it is complete. An existing file may be open in other connections
  /// and processes. SQLite recovers it from an earlier crash if necessary, and replaces its content
  /// in one transaction. Afterwards, the file contains only this store, and no other tables.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``. An existing file must be a database. It
  ///   can't be the file of this store, to which all changes are written anyway.
  /// - Throws: ``CodableStoreError/noFile`` if there is no file, or `SQLiteError`, for example if
  ///   the URL isn't a file URL.
  public func save(to url: URL? = nil) throws {
    let path = try path(of: url)
    try database.read { try save($0, to: path) }
  }

  /// Saves all items in a database file, and suspends the task meanwhile.
  ///
  /// See the blocking ``save(to:)`` for details.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``. An existing file must be a database. It
  ///   can't be the file of this store, to which all changes are written anyway.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func save(to url: URL? = nil) async throws {
    let path = try path(of: url)
    try await database.read { [self] in try save($0, to: path) }
  }

  /// Replaces all items with those in a database file. If the call throws, the store is unchanged.
  ///
  /// SQLite reads the file, so it may also be open in other connections and processes.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: ``CodableStoreError/noFile`` if there is no file,
  ///   ``CodableStoreError/notAStore(_:)`` if it isn't a store, or `SQLiteError`, for example if
  ///   the file is missing or the URL isn't a file URL.
  public func load(from url: URL? = nil) throws {
    let path = try path(of: url)
    let key = database.key
    try database.write { try Self.load(path, key: key, into: $0) }
  }

  /// Replaces all items with those in a database file, and suspends the task meanwhile.
  ///
  /// See the blocking ``load(from:)`` for details.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func load(from url: URL? = nil) async throws {
    let path = try path(of: url)
    let key = database.key
    try await database.write { try Self.load(path, key: key, into: $0) }
  }

  private func path(of url: URL?) throws -> String {
    guard let url = url ?? fileURL else { throw CodableStoreError.noFile }
    return try url.filePath()
  }

  private func save(_ connection: Connection, to path: String) throws {
    try Database.filling(path, key: database.key) { target in
      guard !target.isOnFile(of: database) else {
        throw SQLiteError(
          .misuse, "\(path): a store cannot be saved to its own file; choose another path")
      }
      var options = Database.Options()
      options.key = database.key
      let copy = try Database.memory(options: options)
      try copy.setPageSize(target.pageSize)
      try copy.write { try Self.copyItems(from: connection, to: $0) }
      try copy.backup(to: target)
    }
  }

  private static func load(
    _ path: String, key: Database.Key?, into connection: Connection
  ) throws {
    let source: Database
    do {
      source = try Database.reading(path, key: key)
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
      // A store without items is also valid.
      return try CollectionCatalog(connection: target).make()
    }
    try CollectionCatalog(connection: target).make()
    for name in try sources.names() {
      guard let from = try sources.entry(name) else { continue }
      let to = try CollectionCatalog(connection: target).add(
        name, keys: from.keys, createsIndexLater: true)
      var insert = try target.statement(
        "INSERT INTO \(identifier: to.table) (position, key, item) VALUES (?, ?, ?)")
      try source.forEachRow("SELECT position, key, item FROM \(identifier: from.table)") { row in
        try insert.run(row.value(at: 0), row.value(at: 1), row.value(at: 2))
      }
      try CollectionCatalog(connection: target).makeIndex(to.table)
    }
  }
}
