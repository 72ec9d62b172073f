// `import SQLiteObjects` also imports the modules that it is built on.
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLiteRelations
import Synchronization

/// A store of objects: a SQLite database and the files of assets.
///
///     let magic = try MagicData(path: "/var/lib/app")
///     try magic.update(person)
///     let adults = try magic.objects(of: Person.self, where: \.$age >= 18)
///
/// You can use a store from any task or thread. Writes run in the order in which they are
/// requested. Reads run concurrently, each on a snapshot. Every call that accesses the database has
/// a form that blocks the thread and one that suspends the task. In an `async` function, `await`
/// selects the second one. In the top-level code of a `main.swift`, Swift selects the first one
/// even after `await`, so write such code in a function. Objects are `Sendable` if their values
/// are.
public final class MagicData: ObjectStore {
  /// A kind of store that is deleted when it is closed or released, or when the process exits.
  public enum StoreType: Sendable {
    /// The database and the assets are stored in a temporary folder.
    case temporary
    /// The database is in memory. Assets are stored in a temporary folder.
    case memory
  }

  /// The database that contains the objects, for SQL and other low-level access.
  public let database: Database
  /// The asset store that contains the files of the objects.
  public let assets: AssetStore
  package let identity: StoreIdentity
  private let content: ContentGeneration
  /// The number of the store's current content. It changes when the whole content is replaced.
  /// Objects that were fetched before then have a different number, so the store rejects them as
  /// outdated.
  package var generation: Int { content.current }
  package var isRemote: Bool { !database.has(.functions) }
  /// The folder that is deleted when the store is closed or released, or nil if the store has none.
  let temporaryFolder: TemporaryFolder?
  private let plans = Mutex(KnownPlans())
  /// The plans of the store of which this one is a copy.
  private let originalPlans: [ObjectIdentifier: ObjectPlan]
  /// The tables and columns that the store has already seen in its database.
  package let tables: TableCache
  package let relations = RelationCache()
  /// The instances of classes that higher modules attach to the store for its lifetime.
  package let attachments = StoreAttachments()
  private let replacement = Mutex<Registration?>(nil)
  private let knownLink = Mutex<StoreLink?>(nil)

  /// Creates a store from its opened parts.
  package init(_ parts: StoreParts) {
    temporaryFolder = parts.temporaryFolder
    originalPlans = parts.original?.plans ?? [:]
    tables = TableCache(parts.original?.tables)
    database = parts.database
    assets = parts.assets
    identity = parts.identity
    content = parts.database.content
    let setup = database.aroundReplacement { [weak self] source, target, replace in
      guard let self else { return try replace() }
      try keepIdentity(source, target, replace)
    }
    replacement.withLock { $0 = setup }
  }

  package var link: StoreLink {
    knownLink.withLock { known in
      if let known { return known }
      let link = StoreLink(to: self)
      known = link
      return link
    }
  }

  /// Replaces the whole content of the database by calling `replace`, and then writes the UUID of
  /// this store to it, so that the store keeps its identity. Also clears the cache of known tables.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.schema` if a newer version of this library has
  ///   created `source`, before anything is replaced; or any error that `replace` throws.
  private func keepIdentity(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    try MetaTable.checkFormat(of: source)
    try replace()
    tables.forget()
    try target.transaction { try MetaTable.setStoreUUID(identity.uuid, target) }
  }

  /// Returns the plan of a type, which is created when the type is first used.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the type can't be stored, or
  ///   ``MagicError/conflictingTypes(table:types:)`` if another type uses one of its tables.
  package func plan(_ type: any MagicObject.Type) throws -> ObjectPlan {
    if let plan = plans.withLock({ $0.find(ObjectIdentifier(type)) }) { return plan }
    let plan = try originalPlans[ObjectIdentifier(type)] ?? makePlan(type)
    if let other = database.claim(plan.claims, for: type) {
      throw MagicError.conflictingTypes(
        table: other.table, types: [other.owner, other.purpose])
    }
    return plans.withLock { plans in
      if let first = plans.find(ObjectIdentifier(type)) { return first }
      plans.all[plan.id] = plan
      return plan
    }
  }

  private func makePlan<Object: MagicObject>(_ type: Object.Type) throws -> ObjectPlan {
    try ObjectPlan(type)
  }
}

/// The plans and tables that a store has determined, so that copies of the store don't have to
/// determine them again.
package struct StoreKnowledge: Sendable {
  package let plans: [ObjectIdentifier: ObjectPlan]
  let tables: TableCache
}

extension MagicData {
  /// The plans and tables that the store has determined.
  package var knowledge: StoreKnowledge {
    StoreKnowledge(plans: plans.withLock(\.all), tables: TableCache(tables))
  }
}

/// The plans of a store. The last one is cached: most lookups are for the same type, and comparing
/// it is cheaper than hashing (benchmark `point`).
private struct KnownPlans {
  var all: [ObjectIdentifier: ObjectPlan] = [:]
  private var last: ObjectPlan?

  mutating func find(_ type: ObjectIdentifier) -> ObjectPlan? {
    if let last, last.id == type { return last }
    guard let found = all[type] else { return nil }
    last = found
    return found
  }
}

extension MagicData {
  /// Copies a snapshot of the database and its assets into a new folder, blocking the thread. You
  /// can open the copy as a store.
  ///
  ///     let backup = try magic.backup(to: "/var/backups/app-monday")
  ///     for fault in backup.faults { print(fault) }
  ///
  /// Reads and writes of the store can continue during the backup.
  ///
  /// - Parameters:
  ///   - path: A folder that is missing or empty. Its parent folder must exist.
  ///   - progress: A closure that is called after each file, inside a read of the database. If it
  ///     throws, the backup ends.
  /// - Returns: The paths of the copies, and the assets that were missing or damaged. Check these:
  ///   they don't make the backup fail.
  /// - Throws: `AssetError`, such as `AssetError.folderNotEmpty(path:)`, `SQLiteError`, or any
  ///   error that `progress` throws. Then `path` is left unchanged.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a @Sendable closure, in a function"
  )
  public func backup(
    to path: String, progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> AssetBackup {
    try database.reportingClosedStore { try assets.backup(to: path, progress: progress) }
  }

  /// Copies a snapshot of the database and its assets into a new folder. You can open the copy as a
  /// store. Suspends the task meanwhile.
  ///
  /// Cancelling the task ends the backup. For details, see the blocking ``backup(to:progress:)``.
  ///
  /// - Parameters:
  ///   - path: A folder that is missing or empty. Its parent folder must exist.
  ///   - progress: A closure that is called after each file, inside a read of the database. If it
  ///     throws, the backup ends.
  /// - Returns: The paths of the copies, and the assets that were missing or damaged. Check these:
  ///   they don't make the backup fail.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func backup(
    to path: String, progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> AssetBackup {
    try await database.reportingClosedStore {
      try await assets.backup(to: path, progress: progress)
    }
  }
}

/// Instances of classes that higher modules attach to a store for its lifetime, at most one of each
/// class.
package final class StoreAttachments: Sendable {
  private let values = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Returns the attached instance of a class, or nil if there is none.
  package func present<Attachment: AnyObject & Sendable>(_ type: Attachment.Type) -> Attachment? {
    values.withLock { $0[ObjectIdentifier(type)] } as? Attachment
  }

  /// Returns the attached instance of a class, and creates it if there is none. Concurrent callers
  /// get the same instance.
  package func value<Attachment: AnyObject & Sendable>(
    orElse make: () throws -> Attachment
  ) rethrows -> Attachment {
    if let present = present(Attachment.self) { return present }
    let made = try make()
    let kept = values.withLock { values in
      if let other = values[ObjectIdentifier(Attachment.self)] { return other }
      values[ObjectIdentifier(Attachment.self)] = made
      return made
    }
    return kept as? Attachment ?? made
  }
}
