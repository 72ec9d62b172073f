import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Account: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var balance: Int
  @OptionalMagicValue var note: MagicAsset<String>?
  @MagicValue var friends: AsyncMagical<[Account]> = AsyncMagical(value: [])

  init() {}
  init(_ balance: Int) { self.balance = balance }
}

private struct Plain: MagicObject {
  @MagicValue var text: String
  init() {}
  init(_ text: String) { self.text = text }
}

/// A later version of `Plain` with two more properties.
private enum Later {
  struct Plain: MagicObject {
    static let tableName = "Plain"
    @MagicValue var text: String
    @MagicValue var number: Int = 7
    @OptionalMagicValue var best: Plain?
    init() {}
  }
}

private struct Stop: Error {}

/// Transactions and reads that combine several calls.
@Suite(.everyEngine) struct StoreTransactionTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  @Test func `a deadline ends transactions and reads, and nothing is written`() async throws {
    let magic = magic
    try await magic.update(Account(1))
    let end = ContinuousClock.now
    let calls: [@Sendable () async throws -> Void] = [
      { try await magic.transaction(deadline: end) { _ = try magic.update(Account(2)) } },
      { try await magic.read(deadline: end) { _ = try magic.count(of: Account.self) } },
      {
        let write = { try magic.transaction(deadline: end) { try magic.update(Account(2)) } }
        _ = try write()
      },
      {
        let read = { try magic.read(deadline: end) { try magic.count(of: Account.self) } }
        _ = try read()
      },
    ]
    for (number, call) in calls.enumerated() {
      let error = await #expect(throws: SQLiteError.self, "\(number)") { try await call() }
      #expect(error?.code == .interrupt)
    }
    #expect(try await magic.count(of: Account.self) == 1)
    // A deadline that hasn't passed has no effect.
    let far = ContinuousClock.now + .seconds(3_600)
    try await magic.transaction(deadline: far) { _ = try magic.update(Account(3)) }
    #expect(try await magic.read(deadline: far) { try magic.count(of: Account.self) } == 2)
    try await magic.close()
  }

  @Test func `concurrent transactions lose no updates`() async throws {
    let magic = magic
    try await magic.update(Account(0))
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          try await magic.transaction {
            let account = try magic.object(of: Account.self, primary: 1)
            account.balance += 1
            try magic.update(account)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.object(of: Account.self, primary: 1).balance == 20)
    try await magic.close()
  }

  @Test func `a thrown error rolls back the transaction and is rethrown`() async throws {
    let magic = magic
    let (old, new) = (Account(1), Account(2))
    old.note = MagicAsset(value: "old")
    try await magic.update(old)
    let staged = try await magic.assets.stage([UInt8]("staged".utf8))
    old.balance = 10
    old.note = MagicAsset(staged)
    await #expect(throws: Stop.self) {
      try await magic.transaction {
        new.friends.set([old])
        try magic.update(new)
        #expect(new.id == 2 && old.balance == 10)
        #expect(try magic.object(of: Account.self, primary: 1).note?.get() == "staged")
        try magic.remove(old)
        #expect(try magic.count(of: Account.self) == 1)
        throw Stop()
      }
    }
    #expect(try await magic.objects(of: Account.self).map(\.balance) == [1])
    #expect(try await magic.objects(of: Account.self)[0].note?.get() == "old")
    // The objects are as before: `old` is changed, and `new` is unsaved. Another gets the key of
    // `new`.
    try await magic.update(Account(3))
    try await magic.update(new)
    #expect((old.id, new.id) == (1, 3))
    #expect(try await magic.objects(of: Account.self).map(\.balance) == [10, 3, 2])
    #expect(try await old.note?.get() == "staged")
    #expect(try await new.friends.get().map(\.id) == [1])
    #expect(try await magic.assets.verify().isEmpty)
    let files = { try magic.assetFiles }
    #expect(try files().count == 1)
  }

  @Test func `an object fetched in a rolled-back transaction isn't taken for another`() throws {
    try magic.update([Account(1), Account(2)])
    var fetched: [Account] = []
    let plain = try #require(
      try magic.transaction { () throws -> Plain? in
        try? magic.transaction {
          try magic.update([Account(3), Account(4)])
          fetched = try magic.objects(of: Account.self)
          fetched.append(try magic.object(of: Account.self, primary: 3))
          throw Stop()
        }
        try magic.update(Plain("kept"))
        return try magic.objects(of: Plain.self).first
      })
    try magic.update(Account(5))
    // The first two exist. The others were rolled back, although another object has key 3 now.
    for (place, account) in fetched[..<2].enumerated() { account.balance = 11 + place }
    try magic.update(Array(fetched[..<2]))
    #expect(try magic.objects(of: Account.self).map(\.balance) == [11, 12, 5])
    for account in fetched[2...] {
      #expect(throws: MagicError.notSaved(type: "Account")) { try magic.remove(account) }
    }
    plain.text = "x"
    try magic.update(plain)
    #expect(try magic.objects(of: Plain.self).map(\.text) == ["x"])
  }

  @Test func `a nested transaction can be rolled back alone`() async throws {
    let magic = magic
    let (kept, undone) = (Plain("kept"), Plain("undone"))
    let count = try await magic.transaction {
      // Needed because a cluster runs the body again if it loses its leader.
      kept.text = "kept"
      try magic.update(kept)
      try? magic.transaction {
        try magic.update(undone)
        kept.text = "set in it"
        try magic.update(kept)
        throw Stop()
      }
      #expect(try magic.objects(of: Plain.self).map(\.text) == ["kept"])
      try magic.transaction { () -> TransactionOutcome in
        try magic.update(undone)
        return .rollback
      }
      return try magic.read { try magic.count(of: Plain.self) }
    }
    #expect(count == 1)
    try await magic.update([kept, undone])
    #expect(try await magic.objects(of: Plain.self).map(\.text) == ["set in it", "undone"])
  }

  @Test func `cancelling a task rolls back its transaction`() async throws {
    let magic = magic
    let new = Plain("new")
    try await magic.update(Plain("old"))
    let (reached, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let task = Task {
      try await magic.transaction {
        try magic.update(new)
        reached.signal()
        go.wait()
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        reached.wait()
        continuation.resume()
      }
    }
    task.cancel()
    go.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await magic.objects(of: Plain.self).map(\.text) == ["old"])
    try await magic.update(new)
    #expect(try await magic.objects(of: Plain.self).map(\.text) == ["old", "new"])
  }

  @Test func `a read sees one snapshot, whatever others save`() async throws {
    let magic = magic
    try await magic.update([Plain("a")])
    let seen = try await magic.read {
      let before = try magic.count(of: Plain.self)
      // Saves like another task.
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = try? magic.update([Plain("b"), Plain("c")])
        done.signal()
      }
      done.wait()
      return [before, try magic.count(of: Plain.self), try magic.objects(of: Plain.self).count]
    }
    #expect(seen == [1, 1, 1])
    #expect(try await magic.count(of: Plain.self) == 3)
  }

  @Test func `a read can't save, and returns the defaults of properties added later`() throws {
    let folder = try TestFolder()
    let path = folder.file("store")
    let magic = try MagicData.at(path)
    try magic.update(Plain("a"))
    #expect(throws: SQLiteError.self) { try magic.read { try magic.update(Plain("b")) } }
    #expect(throws: SQLiteError.self) { try magic.read { try magic.transaction {} } }
    // One after the other, because in one process a table belongs to one type.
    try magic.database.close()
    let later = try MagicData.at(path)
    let numbers = try later.read {
      #expect(try later.count(of: Later.Plain.self) == 1)
      return try later.objects(of: Later.Plain.self).map(\.number)
    }
    #expect(numbers == [7])
    #expect(try later.objects(of: Later.Plain.self, where: \.$number == 7).count == 1)
  }

  @Test func `an async transaction is never merged with others and runs once`() async throws {
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = true
    let folder = try TestFolder()
    let magic = try await MagicData.at(folder.path, options: options)
    try await magic.update(Account(0))
    let account = try await magic.object(of: Account.self, primary: 1)
    try await withThrowingTaskGroup { group in
      for number in 0..<30 {
        group.addTask {
          if number % 3 == 0 {
            // A statement that rolls back the whole transaction makes its group run again.
            _ = try? await magic.database.write {
              try $0.executeChange("INSERT OR ROLLBACK INTO Account (id, balance) VALUES (1, 1)")
            }
          } else {
            try await magic.transaction {
              account.balance += 1
              try magic.update(account)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(account.balance == 20)
    #expect(try await magic.object(of: Account.self, primary: 1).balance == 20)
    try await magic.close()
  }

  @Test func `calls on a closed store throw closed`() async throws {
    let magic = magic
    try await magic.database.close()
    await #expect(throws: MagicError.closed) { try await magic.read {} }
    await #expect(throws: MagicError.closed) { try await magic.fetch(Account.all.page(limit: 1)) }
    await #expect(throws: MagicError.closed) {
      try await magic.fetch(Account.all.values(\.$balance))
    }
    await #expect(throws: MagicError.closed) { try await magic.count(of: Account.self) }
    await #expect(throws: MagicError.closed) { try await magic.transaction {} }
  }
}
