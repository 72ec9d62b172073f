import MagicData
import MagicObservation
import Testing
import TestSupport

@MainActor @Suite(.timeLimit(.minutes(40))) struct LiveErrorTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData(type: .temporary)
    try magic.update(Ship("Fram", tons: 402))
  }

  @Test func `an error of a query ends when a commit corrects it`() async throws {
    let ships = LiveResults(Ship.where(Filter(sql: "flag = 'NO'")), in: magic)
    await #expect(throws: SQLiteError.self) { try await ships.load() }
    #expect(ships.error is SQLiteError)
    #expect(ships.value.isEmpty)
    #expect(!ships.isLoading)
    try await magic.database.executeChange("ALTER TABLE Ship ADD COLUMN flag TEXT DEFAULT 'NO'")
    try await wait { ships.value.count == 1 }
    #expect(ships.error == nil)
    try await magic.update(Ship("Gjøa"))
    try await wait { ships.value.count == 2 }
  }

  @Test func `an unreadable value is an error until a commit corrects it`() async throws {
    let tons = LiveResults(Ship.ordered(by: .ascending(\.$id)).values(\.$tons), in: magic)
    let ships = LiveResults(Ship.ordered(by: .ascending(\.$id)), in: magic)
    try await wait { tons.value == [402] && ships.value.count == 1 }
    try await magic.database.executeChange(
      "INSERT INTO Ship (name, port, tons) VALUES ('bad', 'x', 'heavy')")
    try await wait { tons.error != nil }
    // The old values stay.
    #expect(tons.value == [402])
    #expect(ships.value.count <= 2)
    try await magic.database.executeChange("UPDATE Ship SET name = 'worse' WHERE name = 'bad'")
    try await magic.database.executeChange("DELETE FROM Ship WHERE name = 'worse'")
    // The result equals the one before the error.
    try await wait { tons.error == nil && ships.error == nil }
    #expect(tons.value == [402])
    try await magic.update(Ship("Gjøa", tons: 45))
    try await wait { tons.value == [402, 45] && ships.value.count == 2 }
  }

  @Test func `an error of a closure ends when the next fetch succeeds`() async throws {
    struct TooMany: Error {}
    let count = LiveResults(
      LiveFetch { magic in
        let count = try magic.count(of: Ship.self)
        if count > 1 { throw TooMany() }
        return count
      }, initially: 0, in: magic)
    try await wait { count.value == 1 }
    try await magic.update(Ship("Gjøa"))
    try await wait { count.error is TooMany }
    #expect(count.value == 1)
    try await magic.update(Ship("Vasa"))
    try await magic.removeAll(Ship.where(\.$name != "Fram"))
    try await wait { count.error == nil }
    #expect(count.value == 1)
    // Even a fetch that throws this error doesn't end the updates.
    let cancelled = LiveResults(
      LiveFetch { magic in
        let count = try magic.count(of: Ship.self)
        if count < 2 { throw CancellationError() }
        return count
      }, initially: 0, in: magic)
    await #expect(throws: CancellationError.self) { try await cancelled.load() }
    try await magic.update(Ship("Astrid"))
    try await wait { cancelled.value == 2 }
  }

  @Test func `a conversion that fails is an error until the result changes`() async throws {
    struct Odd: Error {}
    let halves = LiveResults(
      Ship.all.count.map { count in
        if count % 2 == 1 { throw Odd() }
        return count / 2
      }, initially: 0, in: magic)
    await #expect(throws: Odd.self) { try await halves.load() }
    // The result stays the same, and so does the error.
    try await magic.updateAll(Ship.all, set: [.set(\.$tons, to: 1)])
    try await magic.update(Ship("Gjøa"))
    try await wait { halves.value == 1 }
    #expect(halves.error == nil)
  }

  @Test func `another request and a reload follow an error`() async throws {
    let ships = LiveResults(Ship.where(Filter(sql: "no_such_column")), in: magic)
    await #expect(throws: SQLiteError.self) { try await ships.load() }
    ships.request = Ship.all
    // The error stays until the result arrives.
    #expect(ships.error != nil)
    try await ships.load()
    #expect(ships.value.count == 1)
    let failing = Flag()
    struct Failure: Error {}
    let count = LiveResults(
      LiveFetch { magic in
        if !failing.isSet { throw Failure() }
        return try magic.count(of: Ship.self)
      }, initially: 0, in: magic)
    await #expect(throws: Failure.self) { try await count.load() }
    failing.set()
    count.reload()
    try await count.load()
    #expect(count.value == 1)
  }

  @Test func `a closed store is a named error`() async throws {
    let ships = LiveResults(Ship.all, in: magic)
    let late = LiveResults(Ship.all, in: magic)
    let rows = LiveResults(
      RecordQuery<Int>.sql("SELECT count(*) FROM Ship"), in: magic.database)
    try await ships.load()
    try await rows.load()
    try await magic.database.close()
    try await wait { ships.error as? MagicError == .closed }
    try await wait { (rows.error as? SQLiteError)?.code == .misuse }
    #expect(ships.value.count == 1)
    await #expect(throws: MagicError.closed) { try await late.load() }
    ships.reload()
    await #expect(throws: MagicError.closed) { try await ships.load() }
  }

  @Test func `a suspended database is a named error until it is resumed`() async throws {
    let folder = try TestFolder()
    let magic = try await MagicData(path: folder.path)
    try await magic.update(Ship("Fram"))
    try await magic.database.suspend()
    let count = LiveResults(Ship.all.count, initially: 0, in: magic)
    try await wait { (count.error as? SQLiteError)?.code.primary == .abort }
    #expect(count.isLoading)
    magic.database.resume()
    try await wait { count.value == 1 && count.error == nil && !count.isLoading }
  }

  @Test func `a type that can't be stored is an error`() async throws {
    let results = LiveResults(Shapeless.all, in: magic)
    await #expect(throws: MagicError.self) { try await results.load() }
    try await magic.update(Ship("Gjøa"))
    #expect(results.value.isEmpty)
  }
}

/// A type that doesn't encode its property.
private struct Shapeless: MagicObject {
  @MagicValue var side: Int
  init() { side = 0 }
  init(from decoder: any Decoder) throws { self.init() }
  func encode(to encoder: any Encoder) throws {}
}
