#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
import SQLiteCore

extension CodableStore {
  /// All items of all types, as the bytes of a database file.
  ///
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(*n*), in memory too.
  public var data: Data {
    get throws { Data(try database.read { try Self.content(of: $0) }) }
  }

  /// As ``data``, suspending the task.
  ///
  /// - Throws: `SQLiteError` or `CancellationError`.
  public func makeData() async throws -> Data {
    try await database.read { Data(try Self.content(of: $0)) }
  }

  /// Puts other items in the place of all that there are. If it throws, everything is as it was.
  ///
  /// - Parameter data: What ``data`` of a store was.
  /// - Throws: ``CodableStoreError/notAStore(_:)``, or `SQLiteError`.
  public func set(data: Data) throws {
    let source = try Self.source(data)
    try database.write { try Self.replaceContent(of: $0, by: source) }
  }

  /// As the blocking ``set(data:)``, suspending the task.
  ///
  /// - Parameter data: What ``data`` of a store was.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func set(data: Data) async throws {
    try await database.write { try Self.replaceContent(of: $0, by: Self.source(data)) }
  }

  /// Writes all items into a file, which is there in whole or as it was before.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: ``CodableStoreError/noFile``, or `SQLiteError`.
  public func save(to url: URL? = nil) throws {
    let path = try file(url)
    try Self.write(try database.read { try Self.content(of: $0) }, to: path)
  }

  /// As the blocking ``save(to:)``, suspending the task.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func save(to url: URL? = nil) async throws {
    let path = try file(url)
    try await database.read { try Self.write(Self.content(of: $0), to: path) }
  }

  /// Puts the items of a file in the place of all that there are. If it throws, everything is as it
  /// was.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: ``CodableStoreError``, `SQLiteError`, or what reading the file throws.
  public func load(from url: URL? = nil) throws {
    try set(data: Data(contentsOf: URL(filePath: file(url))))
  }

  /// As the blocking ``load(from:)``, suspending the task.
  ///
  /// - Parameter url: The file, or nil for ``fileURL``.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func load(from url: URL? = nil) async throws {
    let path = try file(url)
    try await database.write { connection in
      let source = try Self.source(Data(contentsOf: URL(filePath: path)))
      try Self.replaceContent(of: connection, by: source)
    }
  }

  private func file(_ url: URL?) throws -> String {
    guard let path = (url ?? fileURL)?.path else { throw CodableStoreError.noFile }
    return path
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try AtomicFile(path)
    try file.write(bytes)
    try file.finish()
  }

  private static func content(of connection: Connection) throws -> [UInt8] {
    let copy = try Database.memory()
    try copy.write { try copyItems(from: connection, to: $0) }
    return try copy.serialized()
  }

  private static func source(_ data: Data) throws -> Database {
    do {
      let source = try Database.memory(serialized: Array(data))
      guard try source.read({ try CollectionCatalog(connection: $0).exists() }) || data.isEmpty
      else { throw CodableStoreError.notAStore("it has no table magicdata_collections") }
      return source
    } catch let error as SQLiteError {
      throw CodableStoreError.notAStore(error.message)
    }
  }

  private static func replaceContent(of connection: Connection, by source: Database) throws {
    try CollectionCatalog(connection: connection).removeAll()
    try source.read { try copyItems(from: $0, to: connection) }
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
        "INSERT INTO \(identifier: to.place) (position, key, item) VALUES (?, ?, ?)")
      try source.forEachRow("SELECT position, key, item FROM \(identifier: from.place)") { row in
        try insert.run(row.value(at: 0), row.value(at: 1), row.value(at: 2))
      }
      try CollectionCatalog(connection: target).makeIndex(to.place)
    }
  }
}
