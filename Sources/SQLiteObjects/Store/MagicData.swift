// A program that imports objects has the modules that they are made of.
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLiteRelations
import Synchronization

/// A store of objects.
///
///     let magic = try MagicData(path: "/var/lib/app")
///     try magic.update(person)
///     let adults = try magic.objects(of: Person.self, where: \.$age >= 18)
///
/// Any task or thread may use it. Writes happen in the order in which they were asked for; reads
/// happen at the same time, each on a snapshot. Every call has a form that blocks its thread and one
/// that suspends its task. Objects are `Sendable` if their values are.
public final class MagicData: ObjectStore {
  /// The kinds of stores without a path.
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
  private let content: ContentGeneration
  /// The number of the store's content: objects of a content that was replaced have another.
  package var generation: Int { content.current }
  package var isRemote: Bool { !database.has(.functions) }
  /// A folder that goes away with the store.
  let temporaryFolder: TemporaryFolder?
  private let plans = Mutex(KnownPlans())
  /// The tables that the store has looked up.
  package let tables = TableCache()
  package let relations = RelationCache()
  /// What modules above keep with the store.
  package let attachments = StoreAttachments()
  private let replacement = Mutex<Registration?>(nil)
  private let knownLink = Mutex<StoreLink?>(nil)

  /// Takes over what was opened.
  init(_ parts: StoreParts) {
    temporaryFolder = parts.temporaryFolder
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

  /// Keeps the identity of the store while its whole content is replaced. Objects that were fetched before
  /// belong to no content any more.
  private func keepIdentity(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    try MetaTable.checkFormat(of: source)
    try replace()
    tables.forget()
    try target.transaction { try MetaTable.setStoreUUID(identity.uuid, target) }
  }

  /// The plan of a type, made when the type is first met.
  package func plan(_ type: any MagicObject.Type) throws -> ObjectPlan {
    if let plan = plans.withLock({ $0.find(ObjectIdentifier(type)) }) { return plan }
    let plan = try makePlan(type)
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

/// The plans of a store. Most questions are for the same type, which is spared hashing (benchmark `point`).
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
  /// Copies objects and assets, as one state of one moment, into a fresh folder, which is a store
  /// like this one; blocks the thread.
  ///
  ///     let backup = try magic.backup(to: "/var/backups/app-monday")
  ///     for fault in backup.faults { print(fault) }
  ///
  /// Others may read and write meanwhile.
  ///
  /// - Parameters:
  ///   - path: A folder that is empty or missing. The folder above it must exist.
  ///   - progress: Called after each file, within a read of the database; what it throws ends the copy.
  /// - Returns: The paths of the parts, and the faults of assets: look at them.
  /// - Throws: `AssetError`, such as `AssetError.folderNotEmpty(path:)`, `SQLiteError`, or what `progress`
  ///   throws. What was written so far stays.
  public func backup(
    to path: String, progress: (AssetProgress) throws -> Void = { _ in }
  ) throws -> AssetBackup {
    try database.reportingClosure { try assets.backup(to: path, progress: progress) }
  }

  /// As ``backup(to:progress:)``, without blocking the task. Cancelling the task ends it.
  nonisolated(nonsending) public func backup(
    to path: String, progress: @escaping @Sendable (AssetProgress) throws -> Void = { _ in }
  ) async throws -> AssetBackup {
    try await database.reportingClosure { try await assets.backup(to: path, progress: progress) }
  }
}

/// What modules above keep with a store, one of each type, as long as the store lives.
package final class StoreAttachments: Sendable {
  private let values = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Returns the attachment of a type, if there is one.
  package func present<Attachment: AnyObject & Sendable>(_ type: Attachment.Type) -> Attachment? {
    values.withLock { $0[ObjectIdentifier(type)] } as? Attachment
  }

  /// Returns the attachment of a type, made if there is none. Of two that are made at once one is kept.
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
