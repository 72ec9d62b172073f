public import SQLiteAssets
public import SQLiteCore
import SQLiteMapping
import Synchronization

/// A store of objects.
///
///     let magic = try MagicData(path: "/var/lib/app")
///     try magic.update(person)
///     let adults = try magic.objects(of: Person.self, where: \.$age >= 18)
///
/// Any task or thread may use it. Writes happen in the order in which they were asked for; reads
/// happen at the same time, each on a snapshot. Every call has a form that blocks its thread and one
/// that suspends its task. Objects themselves stay where they are: only their values travel.
public final class MagicData: ObjectStore {
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
  private let content: ContentGeneration
  /// The number of the store's content: another content may take its place.
  package var generation: Int { content.current }
  /// Notices what others commit.
  let watch: ForeignWatch
  /// A folder that goes away with the store.
  private let temporaryFolder: TemporaryFolder?
  private let plans = Mutex<[ObjectIdentifier: ObjectPlan]>([:])
  /// Types whose tables are as they shall be.
  private let ready = Mutex<Set<ObjectIdentifier>>([])
  package let tables = KnownTables()
  package let relations = KnownRelations()
  private let replacement = Mutex<Registration?>(nil)

  /// Takes over what was opened.
  init(_ parts: StoreParts) {
    temporaryFolder = parts.temporaryFolder
    database = parts.database
    assets = parts.assets
    identity = parts.identity
    watch = ForeignWatch(parts.database)
    content = parts.database.content
    let setup = database.aroundReplacement { [weak self] source, target, replace in
      guard let self else { return try replace() }
      try keepIdentity(source, target, replace)
    }
    replacement.withLock { $0 = setup }
  }

  /// Keeps the identity of the store while another content takes the place of all objects. What was
  /// fetched before is of no content any more.
  private func keepIdentity(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    try MetaTable.checkFormat(of: source)
    try replace()
    forgetTables()
    try target.transaction { try MetaTable.setStoreUUID(identity.uuid, target) }
  }

  /// What is known of a type.
  package func plan(_ type: any MagicObject.Type) throws -> ObjectPlan {
    if let plan = plans.withLock({ $0[ObjectIdentifier(type)] }) { return plan }
    let plan = try makePlan(type)
    if let other = database.claim(plan.claims, for: type) {
      throw MagicError.conflictingTypes(
        table: other.table, types: [other.owner, other.purpose])
    }
    return plans.withLock { plans in
      if let first = plans[ObjectIdentifier(type)] { return first }
      plans[ObjectIdentifier(type)] = plan
      return plan
    }
  }

  private func makePlan<Object: MagicObject>(_ type: Object.Type) throws -> ObjectPlan {
    try ObjectPlan(type)
  }

  /// Makes or grows the tables of types, as part of the open transaction.
  package func prepareTables(_ plans: [ObjectPlan], _ connection: Connection) throws {
    let missing = plans.filter { !isReady($0) }
    guard !missing.isEmpty else { return }
    try SchemaWriter(self, connection).prepare(missing)
    connection.afterCommit { [self] _ in markReady(missing) }
  }

  /// Says whether the tables of a type are known to be as they shall be.
  package func isReady(_ plan: ObjectPlan) -> Bool {
    // By the type: an object may bring the plan of another store with it.
    ready.withLock { $0.contains(ObjectIdentifier(plan.type)) }
  }

  /// Notes that the tables of types are as they shall be.
  func markReady(_ plans: [ObjectPlan]) {
    ready.withLock { $0.formUnion(plans.map { ObjectIdentifier($0.type) }) }
  }

  /// Looks at all tables again before they are used next.
  func forgetTables() {
    ready.withLock { $0 = [] }
    tables.forget()
  }
}
