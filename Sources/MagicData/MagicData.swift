public import SQLiteAssets
public import SQLiteCore
import SQLiteMapping
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A store of objects.
///
///     let magic = try MagicData(path: "/var/lib/app")
///     try magic.update(person)
///     let adults = try magic.objects(of: Person.self, where: \.$age >= 18)
///
/// Any task or thread may use it. Writes happen in the order in which they were asked for; reads
/// happen at the same time, each on a snapshot. Every call has a form that blocks its thread and one
/// that suspends its task. Objects themselves stay where they are: only their values travel.
public final class MagicData: Sendable {
  /// Where a store without a path keeps its objects.
  public enum StoreType: Sendable {
    /// In a folder of its own that goes away with the store.
    case temporary
    /// In memory; assets are in a folder that goes away with the store.
    case memory
  }

  /// The database with the objects, for work below them.
  public let database: Database
  /// The files that objects keep.
  public let assets: AssetStore
  package let identity: StoreIdentity
  /// A folder that goes away with the store.
  private let temporaryFolder: TemporaryFolder?
  private let plans = Mutex<Plans>(Plans())
  let tables = KnownTables()

  private struct Plans {
    var byType: [ObjectIdentifier: ObjectPlan] = [:]
    var typeByTable: [String: String] = [:]
    /// Types whose tables are as they shall be.
    var ready: Set<ObjectIdentifier> = []
  }

  /// Opens the store in a folder, and makes it if there is none.
  ///
  /// - Parameter path: A folder, which is made if it is missing; in it are `default.sqlite3` and the
  ///   folder `assets`. A path with the extension `sqlite3`, `sqlite` or `db` is the database file
  ///   itself, with the assets beside it.
  /// - Throws: ``SQLiteError`` or ``AssetError``.
  public convenience init(path: String) throws {
    try self.init(place: StorePlace(path: path), temporaryFolder: nil)
  }

  /// Opens the store in a folder, and makes it if there is none.
  ///
  /// - Parameter path: A file URL, as for ``init(path:)-(String)``.
  /// - Throws: ``SQLiteError`` or ``AssetError``.
  public convenience init(path: URL) throws {
    try self.init(path: path.path)
  }

  /// Opens a store that goes away with this value.
  ///
  /// - Parameter type: Where it keeps its objects meanwhile.
  /// - Throws: ``SQLiteError`` or ``AssetError``.
  public convenience init(type: StoreType) throws {
    let folder = try TemporaryFolder()
    let path = type == .memory ? nil : "\(folder.path)/default.sqlite3"
    try self.init(
      place: StorePlace(database: path, assets: "\(folder.path)/assets"), temporaryFolder: folder)
  }

  private init(place: StorePlace, temporaryFolder: TemporaryFolder?) throws {
    self.temporaryFolder = temporaryFolder
    database = try place.database.map { try Database(path: $0) } ?? .memory()
    assets = try AssetStore(database, folder: place.assets)
    identity = StoreIdentity(uuid: try database.write { try MetaTable.storeUUID($0) })
  }

  /// What is known of a type.
  func plan(_ type: any MagicObject.Type) throws -> ObjectPlan {
    if let plan = plans.withLock({ $0.byType[ObjectIdentifier(type)] }) { return plan }
    let plan = try makePlan(type)
    return try plans.withLock { plans in
      if let first = plans.byType[ObjectIdentifier(type)] { return first }
      let table = asciiLowercased(plan.table)
      if let other = plans.typeByTable[table] {
        throw MagicError.conflictingTypes(table: plan.table, types: [other, plan.qualifiedName])
      }
      plans.typeByTable[table] = plan.qualifiedName
      plans.byType[ObjectIdentifier(type)] = plan
      return plan
    }
  }

  private func makePlan<Object: MagicObject>(_ type: Object.Type) throws -> ObjectPlan {
    try ObjectPlan(type)
  }

  /// Makes or grows the tables of types, as part of the open transaction.
  func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws {
    let missing = self.plans.withLock { state in
      plans.filter { !state.ready.contains(ObjectIdentifier($0.type)) }
    }
    guard !missing.isEmpty else { return }
    try SchemaWriter(self, connection).prepare(missing)
    connection.afterCommit { [self] _ in
      self.plans.withLock { state in
        state.ready.formUnion(missing.map { ObjectIdentifier($0.type) })
      }
    }
  }
}
