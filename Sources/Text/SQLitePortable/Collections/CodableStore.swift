public import Essentials
public import SQLiteCore
public import SQLiteMapping
import Synchronization

/// A store that persists collections of `Codable` values in a database, without a declared schema.
///
///     let store = try CodableStore(path: "people.sqlite3")
///     try store.insert(item: Person(id: 0, name: "Ricardo", age: 35))
///     let adults: [Person] = try store.read { $0.age >= 18 }
///
/// You can store any type that is `Codable` and `Equatable`. The items of a type are in a table
/// that is named after the type, or in one that you name. A table returns its items in the order in
/// which you inserted them, and can contain several equal items. Only `==` determines which items
/// are equal. An index finds the items of a `Hashable` type. For other types, each item is
/// compared, because an `id` doesn't determine equality.
///
/// Every call is atomic: if it throws, the store is unchanged. You can call it from any thread or
/// task. Each method has a blocking form and an `await` form, which can also throw
/// `CancellationError`. Closures that you pass run within the database's transaction. They may call
/// the store again.
///
/// A stored value that can't be decoded remains in the table until you delete it with
/// `removeUndecodable(in:as:)` or `clear()`. If there are such values, `read(from:filter:)` throws
/// ``CodableStoreError/undecodable(table:count:first:)`` with their number. `readReport(of:from:)`
/// returns the other items.
public final class CodableStore: Sendable {
  /// The database that contains the items.
  public let database: Database
  /// The coder that converts items to stored values and back.
  let coder: any NestedCoder
  /// The file that `save(to:)` and `load(from:)` use if you don't specify one; nil if there is none.
  public let fileURL: URL?
  /// The type that uses each table that is named after a type, keyed by the name. Another type with
  /// the same name is rejected.
  private let types = Mutex<[String: ObjectIdentifier]>([:])

  /// Creates a store in a database, which may contain other tables.
  ///
  /// - Parameters:
  ///   - database: The database that stores the items.
  ///   - coder: The coder that stores the items, by default as SPON. Use a ``JSONCoder`` for JSON.
  public init(database: Database, coder: any NestedCoder = SPONCoder()) {
    self.database = database
    self.coder = coder
    fileURL = nil
  }

  /// Creates a store in memory, which is lost with this instance unless you save it.
  ///
  ///     let store = try CodableStore(fileURL: url)
  ///     try store.insert(item: person)
  ///     try store.save()
  ///
  /// - Parameters:
  ///   - coder: The coder that stores the items, by default as SPON.
  ///   - data: The result of `data()` of another store, or nil.
  ///   - fileURL: The file that `save(to:)` and `load(from:)` use. If it exists, it is loaded, and
  ///     `data` is ignored.
  /// - Throws: ``CodableStoreError/notAStore(_:)`` if the data or file isn't a store, or
  ///   `SQLiteError`, for example if the URL isn't a file URL.
  public init(
    coder: any NestedCoder = SPONCoder(), data: Data? = nil, fileURL: URL? = nil
  ) throws {
    database = try Database.memory()
    self.coder = coder
    self.fileURL = fileURL
    if let path = try fileURL?.filePath(), FileManager.default.fileExists(atPath: path) {
      try load(from: fileURL)
    } else if let data {
      try set(data: data)
    }
  }

  /// Creates a store in memory that stores items as JSON with your own encoder and decoder.
  ///
  /// See ``init(coder:data:fileURL:)`` for details.
  ///
  /// - Parameters:
  ///   - encoder: The encoder that writes the items.
  ///   - decoder: The decoder that reads the items.
  ///   - data: The result of `data()` of another store, or nil.
  ///   - fileURL: The file that `save(to:)` and `load(from:)` use. If it exists, it is loaded, and
  ///     `data` is ignored.
  /// - Throws: ``CodableStoreError/notAStore(_:)`` if the data or file isn't a store, or
  ///   `SQLiteError`, for example if the URL isn't a file URL.
  public convenience init(
    encoder: JSONEncoder, decoder: JSONDecoder, data: Data? = nil, fileURL: URL? = nil
  ) throws {
    try self.init(
      coder: JSONCoder(encoder: encoder, decoder: decoder), data: data, fileURL: fileURL)
  }

  /// Creates a store in a database file, to which every change is written immediately.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which is created if it is missing.
  ///   - coder: The coder that stores the items, by default as SPON.
  /// - Throws: `SQLiteError` if the database can't be opened.
  public convenience init(path: String, coder: any NestedCoder = SPONCoder()) throws {
    self.init(database: try Database(path: path), coder: coder)
  }

  /// Returns `name` or, if it is nil, the name of the type, which is also the name of its table.
  /// Throws ``CodableStoreError/sameName(_:_:)`` if another type with the same name uses that
  /// table.
  func table(of type: Any.Type, _ name: String?) throws -> String {
    if let name { return name }
    let name = String(describing: type)
    try types.withLock { types in
      let owner = types[name] ?? ObjectIdentifier(type)
      guard owner == ObjectIdentifier(type) else {
        throw CodableStoreError.sameName(name, String(reflecting: type))
      }
      types[name] = owner
    }
    return name
  }

  /// Runs `body` with the items in a table, in a read. If `table` is nil, the table is named after
  /// the type.
  func reading<Item, Result>(
    _ type: Item.Type, _ table: String?, _ body: (ItemCollection<Item>) throws -> Result
  ) throws -> Result {
    let name = try self.table(of: type, table)
    return try database.read { try body(ItemCollection(name: name, connection: $0, coder: coder)) }
  }

  func reading<Item: Sendable, Result: Sendable>(
    _ type: Item.Type, _ table: String?,
    _ body: @escaping @Sendable (ItemCollection<Item>) throws -> Result
  ) async throws -> Result {
    let name = try self.table(of: type, table)
    return try await database.read { [coder] in
      try body(ItemCollection(name: name, connection: $0, coder: coder))
    }
  }

  /// Runs `body` with the items in a table, in a write transaction. If `table` is nil, the table is
  /// named after the type.
  func writing<Item, Result>(
    _ type: Item.Type, _ table: String?, _ body: (ItemCollection<Item>) throws -> Result
  ) throws -> Result {
    let name = try self.table(of: type, table)
    return try database.write { try body(ItemCollection(name: name, connection: $0, coder: coder)) }
  }

  func writing<Item: Sendable, Result: Sendable>(
    _ type: Item.Type, _ table: String?,
    _ body: @escaping @Sendable (ItemCollection<Item>) throws -> Result
  ) async throws -> Result {
    let name = try self.table(of: type, table)
    return try await database.write { [coder] in
      try body(ItemCollection(name: name, connection: $0, coder: coder))
    }
  }

  /// Deletes all items of all types, including values that can't be decoded.
  ///
  /// - Throws: `SQLiteError` if the database can't be written.
  public func clear() throws {
    try database.write { try CollectionCatalog(connection: $0).removeAll() }
  }

  /// Deletes all items of all types, including values that can't be decoded. Suspends the task
  /// meanwhile.
  ///
  /// - Throws: `SQLiteError` if the database can't be written, or `CancellationError`.
  public func clear() async throws {
    try await database.write { try CollectionCatalog(connection: $0).removeAll() }
  }

  /// Returns the names of the tables of items, including empty ones, sorted by their UTF-8 bytes.
  ///
  /// - Returns: The names of types, and the names that you passed as `table`.
  /// - Throws: `SQLiteError` if the database can't be read.
  public func tableNames() throws -> [String] {
    try database.read { try CollectionCatalog(connection: $0).names() }
  }

  /// Returns the names of the tables of items, including empty ones, sorted by their UTF-8 bytes.
  /// Suspends the task meanwhile.
  ///
  /// - Returns: The names of types, and the names that you passed as `table`.
  /// - Throws: `SQLiteError` if the database can't be read, or `CancellationError`.
  public func tableNames() async throws -> [String] {
    try await database.read { try CollectionCatalog(connection: $0).names() }
  }
}
