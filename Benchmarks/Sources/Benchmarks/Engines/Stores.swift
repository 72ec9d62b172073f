import GRDB
import MagicData
import SQLiteCore

// Functions that open a database with the settings that all engines use.

func openC(_ path: String) throws -> CConnection { try CConnection(path: path) }

func openDatabase(_ path: String) throws -> SQLiteCore.Database {
  try SQLiteCore.Database(settingsAt: path)
}

func openStore(_ path: String) throws -> MagicData { try MagicData(settingsAt: path) }

func openQueue(_ path: String) throws -> DatabaseQueue { try DatabaseQueue(settingsAt: path) }

func openPool(_ path: String) throws -> DatabasePool {
  try DatabasePool(path: path, configuration: .settings())
}

/// A store that can be closed explicitly, before its last reference is released.
protocol Closable {
  func close() throws
}

extension SQLiteCore.Database: Closable {}
extension DatabaseQueue: Closable {}
extension DatabasePool: Closable {}

extension MagicData: Closable {
  func close() throws { try database.close() }
}
