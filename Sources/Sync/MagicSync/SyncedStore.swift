import SQLiteAssets
import SQLiteCore
import SQLiteObjects
import Synchronization

/// The parts of a store that a ``Sync`` uses.
///
/// They don't retain the `MagicData`, which may own the ``Sync``.
struct SyncedStore: Sendable {
  let database: Database
  let assets: AssetStore

  init(_ magic: MagicData) {
    database = magic.database
    assets = magic.assets
  }
}

/// The store of a ``Sync``, which stays open while the ``Sync`` exists, unless the store owns the
/// ``Sync``.
final class StoreReference: Sendable {
  private struct Weak {
    weak let magic: MagicData?
  }

  private let weak: Weak
  private let strong: Mutex<MagicData?>

  init(_ magic: MagicData) {
    weak = Weak(magic: magic)
    strong = Mutex(magic)
  }

  func release() { strong.withLock { $0 = nil } }

  /// Creates the tables of types that the program has used but not saved, because other devices may
  /// have rows of them.
  func prepareUsedTypes(_ tables: SyncedTables) async throws {
    guard let magic = weak.magic else { return }
    let plans = magic.knowledge.plans.values.filter {
      !magic.isReady($0) && tables.contains($0.table)
    }
    guard !plans.isEmpty else { return }
    try await magic.database.writeSeparately { try magic.prepareTables(plans, $0) }
  }
}

extension Database {
  /// Runs `body` in a transaction of its own.
  ///
  /// If group commit is enabled, `write` may run several closures in one transaction, and run them
  /// again.
  func writeSeparately<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await withoutTransaction { connection in
      try connection.transaction { try body(connection) }
    }
  }
}
