import MagicData
import MagicHistory
import SQLiteHistory
import SQLitePortable

// In a module that is isolated to the main actor, `await` never selects a blocking call.

struct City: MagicObject {
  @MagicValue var name: String

  init() {}
}

struct Point: Codable, Equatable { var x = 0 }

final class Counter {
  // expected-note@+1 {{mutation of this property is only permitted within the actor}}
  var count = 0
}

final class Model {
  let database: Database
  let magic: MagicData
  let store: CodableStore
  let count: (Connection) throws -> Int = { _ in 1 }
  let act: () throws -> Void = {}
  let decide: (PatchConflict) throws -> PatchResolution = { _ in .omit }

  init(_ database: Database, _ magic: MagicData, _ store: CodableStore) {
    (self.database, self.magic, self.store) = (database, magic, store)
  }

  func transactions() async throws {
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result, or read(giving:_:), in a function}}
    _ = try await database.read(count)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result, or write(giving:_:), in a function}}
    try await database.write(.immediate, count)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    try await database.withoutTransaction(count)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    try await magic.transaction(act)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    try await magic.read(act)
  }

  func histories(_ history: ObjectHistory, _ patch: Patch) async throws {
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    try await magic.undoable("step", act)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await history.undo(resolvingConflicts: decide)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await history.redo(resolvingConflicts: decide)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    _ = try await magic.patch(act)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await magic.apply(patch, onConflict: decide)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await database.patch(count)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await database.apply(patch, onConflict: decide)
  }

  func loops(
    _ visit: (City) throws -> Void, _ visitRow: (sending String) throws -> Void,
    _ show: (AssetProgress) throws -> Void, _ showPages: (BackupProgress) throws -> Void,
    _ showRows: (DumpProgress) throws -> Void, _ other: Database,
    _ file: DataFile
  ) async throws {
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await magic.forEach(City.all, visit)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await magic.forEach(City.all.values(\.$name), visitRow)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await magic.backup(to: "copy", progress: show)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await magic.assets.backup(to: "copy", progress: show)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    _ = try await magic.assets.verify(progress: show)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await database.backup(to: other, progress: showPages)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await database.dump(to: file, progress: showRows)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await database.restore(from: file, progress: showRows)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a @Sendable closure, in a function}}
    try await file.copy(to: file, progress: showRows)
  }

  /// The conformances of `Point` are isolated to the main actor, which the store can't use.
  func items() async throws {
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function}}
    let points: [Point] = try await store.read()
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    _ = try await store.readReport(of: Point.self)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    _ = try await store.contains(item: Point())
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    _ = try await store.count(of: Point.self)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    try await store.removeUndecodable(as: Point.self)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    try await store.insert(item: Point())
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function}}
    try await store.insert(items: points)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    try await store.update(item: Point())
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function}}
    try await store.update(items: points)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type, in a function}}
    try await store.delete(item: Point())
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function}}
    try await store.delete(items: points)
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function}}
    try await store.updateAllItems(of: Point.self) { $0 }
    // expected-warning@+2 {{no 'async' operations occur}}
    // expected-error@+1 {{blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function}}
    try await store.deleteAllItems(of: Point.self)
  }

  /// A task without `await` would block the main actor.
  func tasks() {
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result, or write(giving:_:), in a function}}
    Task { try database.write { _ in } }
    // expected-error@+1 {{blocks the thread; `await` needs a Sendable result and a @Sendable closure, in a function}}
    Task { try magic.transaction {} }
  }

  /// The closures run on a thread of the database, so they can't use the state of the main actor.
  func states() async throws {
    var sum = 0
    // expected-error@+1 {{main actor-isolated property 'count'}}
    try await magic.forEach(City.all) { _ in self.shown.count += 1 }
    // expected-error@+1 {{mutation of captured var 'sum'}}
    try await magic.transaction { sum += 1 }
  }

  let shown = Counter()
}

/// Rows are decoded on a thread of the database.
func rows(_ database: Database) async throws {
  // expected-error@+2 {{main actor-isolated conformance of 'Point' to 'Decodable' cannot satisfy}}
  // expected-error@+1 {{main actor-isolated conformance of 'Point' to 'Decodable' cannot satisfy}}
  _ = try await database.fetch(.sql("SELECT 1 AS x", as: Point.self))
}
