import Essentials
import SQLiteCore
import SQLiteMapping

/// A store of the older MagicData, which kept its objects in another way.
enum OlderStore {
  /// The table in which it counted the objects of each type.
  private static let table = "0Table_Info"

  /// Throws if a file is such a store, without changing anything in it.
  ///
  /// - Throws: ``MagicError/olderStore(path:tables:)``.
  static func refuse(path: String, _ options: Database.Options) throws {
    // In a file system of the user's own SQLite alone knows what is there.
    guard options.vfs == nil, FileManager.default.fileExists(atPath: path) else { return }
    var options = options
    options.mode = .readOnly
    options.maximumReaderCount = 0
    let database: Database
    do {
      database = try Database(path: path, options: options)
    } catch {
      // Opening it for writing says what is wrong, or mends it.
      return
    }
    // What goes wrong in reading is said when it is opened for writing.
    let tables = (try? database.read { try tablesOfTypes($0) }) ?? nil
    // Nothing was written that closing could lose.
    try? database.close()
    if let tables { throw MagicError.olderStore(path: path, tables: tables) }
  }

  /// Throws if a database that was opened is such a store.
  ///
  /// - Throws: ``MagicError/olderStore(path:tables:)`` or ``SQLiteError``.
  static func refuse(_ database: Database) throws {
    if let tables = try database.read({ try tablesOfTypes($0) }) {
      throw MagicError.olderStore(path: database.path ?? ":memory:", tables: tables)
    }
  }

  /// The tables of the store's types, or nil if it is another database.
  private static func tablesOfTypes(_ connection: Connection) throws -> [String]? {
    let columns = try connection.columnNames(of: table)
    guard columns.isSuperset(of: ["table_name", "z_index_count", "structure"]) else { return nil }
    return try connection.rows(
      "SELECT table_name FROM \(identifier: table) ORDER BY table_name", as: String.self)
  }
}
