import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects
import SQLiteRelations

extension MagicData {
  /// Returns a sequence of the changes to objects of a type, one element per transaction.
  ///
  /// The sequence reports all changes, whether made by objects, raw SQL, delete rules, triggers or
  /// an undo.
  ///
  ///     for try await changes in magic.deltas(of: Person.self, including: .current) {
  ///       for change in changes {
  ///         switch change {
  ///         case .current(let people): names = try people.map { try $0[\.$name] }
  ///         case .updated(_, let person, let properties): print(person.zIndex, properties)
  ///         default: break
  ///         }
  ///       }
  ///     }
  ///
  /// Elements are in commit order. They include the transactions of all stores in this process that
  /// use the same file. An element contains each changed object once. Added and removed links count
  /// as changes of their relation property, and replaced content counts as a change of the asset
  /// property. If only links or assets of an object have changed, all other values in both images
  /// are those at the time when the change is read. If the object has been deleted by then, only
  /// its deletion is reported.
  ///
  /// The sequence includes all transactions that commit after this call, even if the loop starts
  /// later. Writers never wait for the loop. If more than `limit` bytes of changes are pending,
  /// they are dropped and the loop receives one `Delta.overflow`. Iterate over the sequence only
  /// once.
  ///
  /// - Parameters:
  ///   - type: The type of the objects.
  ///   - start: Whether the sequence starts with all current objects.
  ///   - limit: The maximum size of the pending changes in bytes.
  /// - Returns: The sequence of changes. It ends when the iterating task is cancelled. It throws
  ///   `MagicError` if the type can't be stored, or `MagicError.closed` if the store was closed. It
  ///   throws `SQLiteError`, for example with `ResultCode.misuse` if this libsqlite3 was built
  ///   without `SQLITE_ENABLE_PREUPDATE_HOOK`.
  public func deltas<Object: MagicObject>(
    of type: Object.Type, including start: DeltaStart = .changes, limit: Int = 64 << 20
  ) -> some AsyncSequence<[Delta<ObjectImage<Object>>], any Error> & Sendable {
    DeltaSequence(ObjectDeltas<Object>(self, limit: limit), start)
  }
}

/// A source of the changes to the objects of one type, which converts the commits of a queue.
private struct ObjectDeltas<Object: MagicObject>: DeltaSource {
  private let store: MagicData
  private let parts: Result<(queue: DeltaQueue, reader: ObjectDeltaReader<Object>), any Error>

  init(_ store: MagicData, limit: Int) {
    self.store = store
    parts = Result {
      let reader = ObjectDeltaReader<Object>(try store.plan(Object.self))
      return (DeltaQueue(store.database, tables: reader.tables, limit: limit), reader)
    }
  }

  var database: Database { store.database }

  func next() async throws -> DeltaQueue.News? {
    try await database.reportingClosedStore { try await parts.get().queue.next() }
  }

  func current() async throws -> sending [ObjectImage<Object>] {
    let (queue, reader) = try parts.get()
    return try await database.reportingClosedStore {
      try await database.withoutTransaction { connection in
        try connection.transaction(.immediate) {
          queue.begin(after: connection.reserveCommitNumber())
          return try reader.current(connection)
        }
      }
    }
  }

  func deltas(_ changes: CommittedChanges) async throws -> sending [Delta<ObjectImage<Object>>] {
    let reader = try parts.get().reader
    let tables = try changes.recorded.coalesced {
      reader.tables.contains(asciiLowercased($0.table))
    }
    guard !tables.isEmpty else { return [] }
    return try await database.reportingClosedStore {
      try await database.read { try reader.deltas(tables, $0) }
    }
  }
}

/// A reader that converts changes of rows into changes of objects.
struct ObjectDeltaReader<Object: MagicObject>: Sendable {
  private let plan: ObjectPlan
  /// The lowercased names of the tables that contain the objects, their links and their assets.
  let tables: Set<String>
  /// The index in `plan.properties` of the relation property that each link table stores, by the
  /// lowercased name of the table.
  private let linkSlots: [String: Int]
  private let assetSlots: [Int]

  init(_ plan: ObjectPlan) {
    self.plan = plan
    linkSlots = Dictionary(
      plan.links.map { (asciiLowercased(plan.linkTableName($0)), $0) }, uniquingKeysWith: { $1 })
    assetSlots = plan.properties.indices.filter { plan.properties[$0].isAsset }
    tables = Set([asciiLowercased(plan.table)] + linkSlots.keys)
      .union(assetSlots.isEmpty ? [] : ["magicdata_asset"])
  }

  /// The changes that one commit made to an object.
  private struct Change {
    var old: ObjectImage<Object>?
    var new: ObjectImage<Object>?
    var properties: Set<String> = []
    var oldLinks: [String: [StoredLink]] = [:]
    var newLinks: [String: [StoredLink]] = [:]
  }

  /// Converts the changed rows of one commit into changes of objects. If only links or assets of an
  /// object changed, reads its other values from the database.
  func deltas(
    _ tables: [TableDeltas], _ connection: Connection
  ) throws -> [Delta<ObjectImage<Object>>] {
    var changes: [Int64: Change] = [:]
    var order: [Int64] = []
    func change(_ key: Int64, _ body: (inout Change) -> Void) {
      if changes[key] == nil { order.append(key) }
      body(&changes[key, default: Change()])
    }
    var replaced: Set<Value> = []
    for table in tables {
      let names = table.layout.columns.map { asciiLowercased($0.name) }
      let name = asciiLowercased(table.layout.table)
      if name == asciiLowercased(plan.table) {
        let slots = slots(of: names)
        let key = names.firstIndex(of: asciiLowercased(plan.key))
        for row in table.rows {
          let rowKey = key.flatMap { (row.new ?? row.old)?[$0] }
          guard case .integer(let number)? = rowKey else { continue }
          change(number) { change in
            change.old = row.old.map { ObjectImage(plan, number, $0, slots) }
            change.new = row.new.map { ObjectImage(plan, number, $0, slots) }
            guard let old = row.old, let new = row.new else { return }
            for column in names.indices where old[column] != new[column] {
              if let slot = slots[column] { change.properties.insert(plan.properties[slot].name) }
            }
          }
        }
      } else if let slot = linkSlots[name] {
        let property = plan.properties[slot].name
        for row in table.rows {
          if let link = row.old.flatMap({ link($0, names) }) {
            change(link.owner) { change in
              change.properties.insert(property)
              change.oldLinks[property, default: []].append(link)
            }
          }
          if let link = row.new.flatMap({ link($0, names) }) {
            change(link.owner) { change in
              change.properties.insert(property)
              change.newLinks[property, default: []].append(link)
            }
          }
        }
      } else if let id = names.firstIndex(of: "id") {
        for row in table.rows {
          if let old = row.old, row.new != nil { replaced.insert(old[id]) }
        }
      }
    }
    if !replaced.isEmpty {
      for (key, property) in try holders(of: replaced, connection) {
        change(key) { $0.properties.insert(property) }
      }
    }
    let missing = order.filter { changes[$0]?.old == nil && changes[$0]?.new == nil }
    for image in try images(where: missing, connection) {
      changes[Int64(image.zIndex)]?.old = image
      changes[Int64(image.zIndex)]?.new = image
    }
    return order.compactMap { key -> Delta<ObjectImage<Object>>? in
      guard var change = changes[key] else { return nil }
      change.old?.links = change.oldLinks
      change.new?.links = change.newLinks
      switch (change.old, change.new) {
      case (let old?, let new?):
        return change.properties.isEmpty
          ? nil : .updated(old: old, new: new, properties: change.properties)
      case (let old?, nil): return .deleted(old)
      case (nil, let new?): return .inserted(new)
      case (nil, nil): return nil
      }
    }
  }

  /// Returns images of all current objects of the type, each with all its links.
  func current(_ connection: Connection) throws -> [ObjectImage<Object>] {
    var images = try images(where: nil, connection)
    let places = Dictionary(
      images.enumerated().map { (Int64($1.zIndex), $0) }, uniquingKeysWith: { $1 })
    for (table, slot) in linkSlots {
      let names = try connection.columns(of: table).map { asciiLowercased($0.name) }
      guard !names.isEmpty else { continue }
      let property = plan.properties[slot].name
      try connection.forEachRow(
        "SELECT \(SQL(identifiers: names)) FROM main.\(identifier: table) ORDER BY 1, 2"
      ) { row in
        let values = try names.indices.map { try row.value(at: $0) }
        guard let link = link(values, names), let place = places[link.owner] else { return }
        images[place].links[property, default: []].append(link)
      }
    }
    return images
  }

  /// Returns, for each column, the index in `plan.properties` of the property that the column
  /// stores; nil if there is no such property.
  private func slots(of columns: [String]) -> [Int?] {
    columns.map { column in
      plan.properties.firstIndex { $0.hasColumn && asciiLowercased($0.name) == column }
    }
  }

  private func link(_ row: [Value], _ names: [String]) -> StoredLink? {
    guard let owner = names.firstIndex(of: "owner"), let target = names.firstIndex(of: "target"),
      case .integer(let from) = row[owner], case .integer(let to) = row[target]
    else { return nil }
    let place = names.firstIndex(of: "position") ?? names.firstIndex(of: "key")
    return StoredLink(owner: from, place: place.map { row[$0] } ?? .null, target: to)
  }

  /// Returns images of the current objects with the given keys (`z_index`), or of all objects if
  /// `keys` is nil. The images contain no links.
  private func images(
    where keys: [Int64]?, _ connection: Connection
  ) throws -> [ObjectImage<Object>] {
    if keys?.isEmpty ?? false { return [] }
    let names = try connection.columns(of: plan.table).filter { $0.kind == .ordinary }.map {
      asciiLowercased($0.name)
    }
    guard let key = names.firstIndex(of: asciiLowercased(plan.key)) else { return [] }
    let slots = slots(of: names)
    var images: [ObjectImage<Object>] = []
    let condition: SQL = keys.map { "WHERE \(identifier: plan.key) IN \($0)" } ?? ""
    try connection.forEachRow(
      """
      SELECT \(SQL(identifiers: names)) FROM main.\(identifier: plan.table) \(condition)
      ORDER BY \(identifier: plan.key)
      """
    ) { row in
      let values = try names.indices.map { try row.value(at: $0) }
      guard case .integer(let number) = values[key] else { return }
      images.append(ObjectImage(plan, number, values, slots))
    }
    return images
  }

  /// Returns the keys (`z_index`) of the objects that own the assets with the given ids, each with
  /// the name of its asset property.
  private func holders(
    of ids: Set<Value>, _ connection: Connection
  ) throws -> [(Int64, String)] {
    let present = try connection.columnNames(of: plan.table)
    var holders: [(Int64, String)] = []
    for slot in assetSlots {
      let name = plan.properties[slot].name
      guard present.contains(asciiLowercased(name)) else { continue }
      holders += try connection.rows(
        """
        SELECT \(identifier: plan.key) FROM main.\(identifier: plan.table)
        WHERE \(identifier: name) IN \(Array(ids)) ORDER BY 1
        """, as: Int64.self
      ).map { ($0, name) }
    }
    return holders
  }
}
