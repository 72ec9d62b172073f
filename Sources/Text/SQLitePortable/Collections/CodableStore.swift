public import Essentials
public import SQLiteCore
public import SQLiteMapping
import Synchronization

/// Collections of plain values that last: a set or a dictionary in a database, and nothing to declare.
///
///     let store = try CodableStore(path: "people.sqlite3")
///     try store.insert(item: Person(id: 0, name: "Ricardo", age: 35))
///     let adults: [Person] = try store.read { $0.age >= 18 }
///
/// Any type that is `Codable` and `Equatable` can be stored. Its items lie in a table that is named
/// after the type, or as you say, in the order in which they were inserted; equal ones may be there
/// several times. What `==` says is one item is one here. Items of a `Hashable` type are found by an
/// index; of another type each is looked at, since an id says nothing about `==`.
///
/// Every call takes effect wholly or, if it throws, not at all, and any thread or task may make it.
/// Each has a blocking form and one for `await`, which throws `CancellationError`, too. Functions that you pass run within the database's
/// transaction; they may call the store again.
///
/// A stored value that is no `Item` (any more) stays as it is, whatever you do, until you delete it by
/// `removeUndecodable(in:as:)` or `clear()`. `read(from:filter:)` throws ``CodableStoreError/undecodable(table:count:first:)``
/// that counts such values; `readReport(of:from:)` hands out the others.
public final class CodableStore: Sendable {
  /// The database that the items are in.
  public let database: Database
  /// How items are stored.
  let coder: any NestedCoder
  /// The file that `save(to:)` and `load(from:)` use if none is named.
  public let fileURL: URL?
  /// The types whose names name tables.
  private let types = Mutex<[String: ObjectIdentifier]>([:])

  /// Uses a database, which may hold other tables.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - coder: How items are stored: as SPON, or for example by a ``JSONCoder``.
  public init(database: Database, coder: any NestedCoder = SPONCoder()) {
    self.database = database
    self.coder = coder
    fileURL = nil
  }

  /// Makes a store in memory, which is deleted with this value unless it is saved.
  ///
  ///     let store = try CodableStore(fileURL: url)
  ///     try store.insert(item: person)
  ///     try store.save()
  ///
  /// - Parameters:
  ///   - coder: How items are stored.
  ///   - data: What another store has saved, the result of its `data()`, or nil.
  ///   - fileURL: The file that `save(to:)` and `load(from:)` use. If it exists, it is loaded instead
  ///     of `data`.
  /// - Throws: ``CodableStoreError/notAStore(_:)``, or `SQLiteError`, such as for a URL that names no
  ///   file.
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

  /// As ``init(coder:data:fileURL:)``, storing items as JSON by coders of yours.
  ///
  /// - Parameters:
  ///   - encoder: Writes the items.
  ///   - decoder: Reads the items.
  ///   - data: The result of `data()` of a store, or nil.
  ///   - fileURL: The file that `save(to:)` and `load(from:)` use.
  /// - Throws: ``CodableStoreError/notAStore(_:)``, or `SQLiteError`.
  public convenience init(
    encoder: JSONEncoder, decoder: JSONDecoder, data: Data? = nil, fileURL: URL? = nil
  ) throws {
    try self.init(
      coder: JSONCoder(encoder: encoder, decoder: decoder), data: data, fileURL: fileURL)
  }

  /// Opens a store in a database file, where every change lasts at once.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which is made if it is missing.
  ///   - coder: How items are stored.
  /// - Throws: `SQLiteError` that says what was in the way.
  public convenience init(path: String, coder: any NestedCoder = SPONCoder()) throws {
    self.init(database: try Database(path: path), coder: coder)
  }

  /// The table of a type, unless another type of the same name has it.
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

  /// Reads the items of a type in a table.
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

  /// Changes the items of a type in a table, in one transaction.
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

  /// Deletes all items of all types.
  ///
  /// - Throws: `SQLiteError`.
  public func clear() throws {
    try database.write { try CollectionCatalog(connection: $0).removeAll() }
  }

  /// As ``clear()``, without blocking the task.
  public func clear() async throws {
    try await database.write { try CollectionCatalog(connection: $0).removeAll() }
  }

  /// The names of the tables that have been made, in alphabetical order.
  ///
  /// - Throws: `SQLiteError`.
  public func tableNames() throws -> [String] {
    try database.read { try CollectionCatalog(connection: $0).names() }
  }

  /// As ``tableNames()``, without blocking the task.
  public func tableNames() async throws -> [String] {
    try await database.read { try CollectionCatalog(connection: $0).names() }
  }
}
