import SQLiteCore
public import SQLiteHistory
import SQLiteMapping
public import SQLiteObjects
import SQLiteRelations

extension MagicData {
  /// Tells what each transaction has changed in the objects of a type, whatever wrote it: objects, raw SQL, delete
  /// rules, triggers, undoing.
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
  /// Each element is one transaction, in the order of the commits, of all stores of this process on the path. An object
  /// stands in it once. Links that came or went are changes of the property that they belong to, and so is the
  /// content of an asset. If only these have changed, the other values of both images are as they are when the change
  /// is read; if the object is gone by then, its removal is what follows.
  ///
  /// What commits after this call is told, also if the loop begins later. Nobody waits for the loop: when more than
  /// `limit` bytes wait for it, they are dropped, and it gets one `Delta.tooMuch`. The sequence is for one loop, and ends
  /// with its task.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - start: Whether the objects as they are come first.
  ///   - limit: The most bytes of changes that are kept for the loop.
  /// - Returns: The changes. The loop ends once its task is cancelled. It throws `MagicError` if the type cannot be stored, or
  ///   with `closed` once the store was closed, and `SQLiteError`, such as with `ResultCode.misuse` if this libsqlite3 was
  ///   built without `SQLITE_ENABLE_PREUPDATE_HOOK`.
  public func deltas<Object: MagicObject>(
    of type: Object.Type, including start: DeltaStart = .changes, limit: Int = 64 << 20
  ) -> some AsyncSequence<[Delta<ObjectImage<Object>>], any Error> & Sendable {
    DeltaSequence(ObjectDeltas<Object>(self, limit: limit), start)
  }
}

/// The changes of the objects of a type.
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
    try await database.reportingClosure { try await parts.get().queue.next() }
  }

  func current() async throws -> sending [ObjectImage<Object>] {
    let (queue, reader) = try parts.get()
    return try await database.reportingClosure {
      try await database.withoutTransaction { connection in
        try connection.transaction(.immediate) {
          queue.begin(after: connection.takeMoment())
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
    return try await database.reportingClosure {
      try await database.read { try reader.deltas(tables, $0) }
    }
  }
}

/// Makes the changes of objects of the changes of rows.
struct ObjectDeltaReader<Object: MagicObject>: Sendable {
  private let plan: ObjectPlan
  /// The tables of objects, links and assets, in lower case.
  let tables: Set<String>
  /// The property of each table of links.
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

  /// The changes of one commit to an object.
  private struct Change {
    var old: ObjectImage<Object>?
    var new: ObjectImage<Object>?
    var properties: Set<String> = []
    var oldLinks: [String: [StoredLink]] = [:]
    var newLinks: [String: [StoredLink]] = [:]
  }

  /// The changes of objects by those of rows of one commit.
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

  /// All objects with their links.
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

  /// The slots of the properties that columns belong to.
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

  /// The objects with some keys, or all, as they are.
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

  /// The objects that hold assets, each with its property.
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
