import Foundation
import MagicData
import MagicHistory
import MagicSync
import SQLiteHistory
import SQLitePortable

/// Makes all calls that read the library's own tables. Each call may throw an error of the library.
struct Calls {
  let folder: String
  let marks: Marks
  /// Whether only calls that read the tables of the sync are made.
  let isSyncOnly: Bool
  /// A closure that receives the name of each call before it is made.
  let begin: (String) -> Void

  @discardableResult
  private func attempt<Result>(_ name: String, _ body: () throws -> Result) -> Result? {
    begin(name)
    do {
      return try body()
    } catch {
      report(error)
      return nil
    }
  }

  @discardableResult
  private func attempt<Result>(
    _ name: String, waitingFor body: () async throws -> Result
  ) async -> Result? {
    begin(name)
    do {
      return try await body()
    } catch {
      report(error)
      return nil
    }
  }

  /// Reports an error of a type that no call may throw.
  private func report(_ error: any Error) {
    switch error {
    case is SQLiteError, is MagicError, is AssetError, is PatchError, is HistoryError, is DumpError,
      is CodableStoreError, is RowDecodingError, is SchemaError, is SyncError:
      break
    default: printLine("strange \(type(of: error)): \(error)")
    }
  }

  func run() async {
    guard let magic = attempt("open", { try MagicData(path: folder, minimumFileSize: 8) }) else {
      return
    }
    if !isSyncOnly {
      read(magic)
      await follow(magic)
      write(magic)
      attempt("open again") {
        let other = try MagicData(path: folder, minimumFileSize: 8)
        read(other)
        try other.database.close()
      }
    }
    await exchange(magic)
    attempt("close") { try magic.database.close() }
  }

  private func read(_ magic: MagicData) {
    attempt("object(of: Person)") { try magic.object(of: Person.self) }
    attempt("object(of: Town)") { try magic.object(of: Town.self) }
    for club in attempt("object(of: Club)", { try magic.object(of: Club.self) }) ?? [] {
      for limit in [nil, 0, 1, Int.max] {
        attempt("members.objects") { try club.members.objects(limit: limit, offset: 1) }
        attempt("tags.objects") { try club.tags.objects(limit: limit, offset: Int.max) }
        attempt("towns.objects") { try club.towns.objects(limit: limit) }
      }
      attempt("members.page") {
        let page = try magic.fetch(club.members.all.page(limit: 1))
        return try magic.fetch(club.members.all.page(after: page.end, limit: Int.max))
      }
      attempt("members.count") { try magic.fetch(club.members.where(\.$name > "a").count) }
      attempt("members.randomValue") { try club.members.randomValue() }
      attempt("members.randomValue(in:)") { try club.members.randomValue(in: 1..<Int.max) }
      attempt("towns.value") { try club.towns.value(forKey: 2) }
      attempt("members.get") { try club.members.get() }
      attempt("tags.get") { try club.tags.get() }
      attempt("towns.get") { try club.towns.get() }
    }
    for person in attempt("objects(of: Person)", { try magic.objects(of: Person.self) }) ?? [] {
      attempt("clubs.get") { try person.clubs.get() }
      attempt("clubs.page") { try magic.fetch(person.clubs.all.page(limit: 1)) }
      attempt("photo.get") { try person.photo?.get() }
      attempt("trail(of:)") { try magic.trail(of: person) }
    }
    attempt("page") {
      let page = try magic.fetch(Person.ordered(by: .descending(\.$name)).page(limit: 2))
      return try magic.fetch(
        Person.ordered(by: .descending(\.$name)).page(after: page.end, limit: 2))
    }
    attempt("search") { try magic.fetch(Town.all.limit(2, offset: 1).search(.prefix("town"))) }
    attempt("count") { try magic.count(of: Town.self, where: \.$size == 0) }
    attempt("check(of: Person)") { try magic.check(of: Person.self) }
    attempt("check(of: Club)") { try magic.check(of: Club.self) }
    attempt("check(of: Reading)") { try magic.database.read { try $0.check(of: Reading.self) } }
    attempt("records") { try magic.database.read { try $0.objects(of: Reading.self) } }
    for limit in [0, 1, Int.max] {
      attempt("trail(of:zIndex:)") {
        try magic.trail(of: Person.self, zIndex: 1, limit: limit)
      }
    }
    attempt("trail(of: Club)") { try magic.trail(of: Club.self, zIndex: Int.max, limit: .min) }
    attempt("assets.records") { try magic.assets.records() }
    attempt("assets.verify") { try magic.assets.verify() }
    attempt("assets.upkeepPlan") { try magic.assets.upkeepPlan() }
    let collections = CodableStore(database: magic.database)
    attempt("tableNames") { try collections.tableNames() }
    attempt("read items") { let _: [Int] = try collections.read { $0 > 0 } }
    attempt("readReport") { try collections.readReport(of: Int.self) }
    attempt("contains item") { try collections.contains(item: 2) }
    attempt("data") { try CodableStore(data: collections.data()) }
  }

  private func follow(_ magic: MagicData) async {
    attempt("migrate") { try magic.migrate(migrations) }
    guard let journal = attempt("journal", { try magic.database.journal() }) else { return }
    for mark in marks.journal {
      attempt("patch(since:)") { try journal.patch(since: mark) }
    }
    attempt("mark") { try journal.mark() }
    var changes = journal.deltas(of: Reading.self).makeAsyncIterator()
    var rows = journal.deltas(of: Reading.self, including: .current).makeAsyncIterator()
    var objects = magic.deltas(of: Person.self, including: .current).makeAsyncIterator()
    var observed = magic.observe(Person.ordered(by: .ascending(\.$id))).makeAsyncIterator()
    await attempt("journal.deltas", waitingFor: { try await rows.next() })
    await attempt("deltas", waitingFor: { try await objects.next() })
    await attempt("observe", waitingFor: { try await observed.next() })
    let isWritten =
      attempt("insert") { try magic.database.write { try $0.update(Reading(value: 2)) } } != nil
    let isSaved = attempt("insert an object") { try magic.update(Person("new")) } != nil
    if isWritten {
      await attempt("next of the journal", waitingFor: { try await changes.next() })
      await attempt("next of the journal's records", waitingFor: { try await rows.next() })
    }
    if isSaved {
      await attempt("next of the deltas", waitingFor: { try await objects.next() })
      await attempt("next of the observation", waitingFor: { try await observed.next() })
    }
    attempt("a small journal") {
      let small = try magic.database.journal(limit: 1)
      try magic.database.write { try $0.update(Reading(value: 3)) }
      withExtendedLifetime(small) {}
    }
    attempt("keepTrail") {
      let trail = try magic.keepTrail(maximumCount: 20, maximumAge: .seconds(1_000_000))
      try magic.update(Tag("new"))
      try trail.prune(before: Date(timeIntervalSince1970: 0))
      try trail.prune(before: .distantFuture)
    }
    withExtendedLifetime(journal) {}
  }

  /// Exchanges changes with the other device of the fixture; twice if the tables of the sync are
  /// damaged, since the second `Sync` reads what the first one has written.
  private func exchange(_ magic: MagicData) async {
    let folder = DirectorySyncFolder(path: "\(folder)/shared")
    for number in 1...(isSyncOnly ? 2 : 1) {
      let made = await attempt("Sync", waitingFor: { try await sync(magic, through: folder) })
      guard let sync = made else { continue }
      await attempt("conflicts", waitingFor: { try await sync.conflicts() })
      let devices = await attempt("devices", waitingFor: { try await sync.devices() })
      await attempt("once", waitingFor: { try await sync.once() })
      let conflicts = await attempt("new conflicts", waitingFor: { try await sync.conflicts() })
      for conflict in conflicts ?? [] {
        await attempt("restore", waitingFor: { try await sync.restore(conflict) })
      }
      await attempt(
        "acknowledge", waitingFor: { try await sync.acknowledge((conflicts ?? []).reversed()) })
      await attempt("update", waitingFor: { try await magic.update(Town("later \(number)")) })
      await attempt("another once", waitingFor: { try await sync.once() })
      for device in devices ?? [] {
        await attempt("remove(device:)", waitingFor: { try await sync.remove(device: device.id) })
      }
      await attempt("last once", waitingFor: { try await sync.once() })
    }
  }

  private func write(_ magic: MagicData) {
    if let history = attempt("history", { try magic.history(limit: 5, keeping: .inStore) }) {
      attempt("undoNames") { (history.undoNames, history.redoNames, history.canUndo) }
      attempt("redo") { try history.redo() }
      attempt("undo") { try history.undo() }
      attempt("undo, resolving") { try history.undo { _ in .omit } }
      attempt("undoable") { try magic.undoable("more") { try magic.update(Person("more")) } }
      attempt("undo of that") { try history.undo() }
      attempt("undo of more") { while try history.undo() != nil {} }
      attempt("redo of all") { while try history.redo() != nil {} }
      attempt("clear") { try history.clear() }
    }
    let people = attempt("object(of: Person)", { try magic.object(of: Person.self) }) ?? []
    for person in people {
      attempt("save lists") {
        person.friends.insert(Person("friend"), at: 0)
        person.friends.append(person)
        person.tags = [Tag("tag \(UUID())")]
        person.rooms["c"] = Town("town \(UUID())")
        try magic.update(person)
      }
    }
    for club in attempt("object(of: Club)", { try magic.object(of: Club.self) }) ?? [] {
      for position in [0, 1, 2, Int.max, Int.min] {
        attempt("members.insert(at: \(position))") {
          club.members.insert(Person("member"), at: position)
          try magic.update(club)
        }
      }
      attempt("members.append") {
        club.members.append(Person("member"))
        if let first = people.first { club.members.remove(first) }
        try magic.update(club)
      }
      attempt("tags.insert") {
        club.tags.insert(Tag("tag \(UUID())"))
        try magic.update(club)
      }
      attempt("towns.set") {
        try club.towns.set(Town("town \(UUID())"), forKey: Int.max)
        try club.towns.set(nil, forKey: 1)
        try magic.update(club)
      }
      attempt("set members") {
        club.members.set(people.reversed())
        try magic.update(club)
      }
    }
    if let photo = attempt("asset records", { try magic.assets.records() })?.first {
      attempt("replace") {
        try magic.database.write { try magic.assets.replace(photo.id, with: [1, 2, 3], in: $0) }
      }
      attempt("delete") { try magic.database.write { try magic.assets.delete(photo.id, in: $0) } }
    }
    attempt("removeDeletedFiles") { try magic.assets.removeDeletedFiles() }
    attempt("sweep") { try magic.assets.sweep() }
    attempt("backup") { try magic.backup(to: "\(folder)/backup") }
    attempt("dump") { try magic.database.dump(to: .json(path: "\(folder)/dump")) }
    attempt("restore a dump") {
      let other = try Database.memory()
      try other.restore(from: .json(path: "\(folder)/dump"))
    }
    attempt("migrate more") {
      try magic.migrate(migrations + [Migration("third", .sql("DROP TABLE migrated"))])
    }
    let collections = CodableStore(database: magic.database)
    attempt("insert an item") { try collections.insert(item: 7) }
    attempt("update items") { try collections.updateAllItems(of: Int.self) { $0 &+ 1 } }
    attempt("delete an item") { try collections.delete(item: 2) }
    attempt("removeUndecodable") { try collections.removeUndecodable(as: Int.self) }
    attempt("clear items") { try collections.clear() }
    for person in people.prefix(2) { attempt("remove") { try magic.remove(person) } }
    attempt("removeAll") { try magic.removeAll(Club.all) }
  }
}
