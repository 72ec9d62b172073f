import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Account: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var balance: Int = 0

  init() {}
  init(_ name: String) { self.name = name }
}

/// Saves of several tasks that are combined in group commits.
@Suite(.everyEngine, .timeLimit(.minutes(40))) struct GroupedSavingTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func store() throws -> MagicData {
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = true
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    return try MagicData.at("\(folder.path)/store.sqlite3", options: options)
  }

  @Test func `each task's object is saved once and gets its key`() async throws {
    let magic = try store()
    let keys = try await withThrowingTaskGroup { group in
      for number in 0..<50 {
        group.addTask {
          let account = Account("\(number)")
          let key = try await magic.update(account)
          account.balance = number
          try await magic.update(account)
          #expect(account.id == key)
          return key
        }
      }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(keys == Set(1...50))
    let accounts = try await magic.object(of: Account.self)
    #expect(accounts.map(\.name).sorted() == (0..<50).map { "\($0)" }.sorted())
    for account in accounts { #expect("\(account.balance)" == account.name) }
  }

  @Test func `a rollback caused by one save doesn't affect the other saves`() async throws {
    let magic = try store()
    try await magic.update(Account("first"))
    try await magic.database.executeChange(
      """
      CREATE TRIGGER ending BEFORE INSERT ON Account WHEN new.name = 'bad'
      BEGIN SELECT RAISE(ROLLBACK, 'all is lost'); END
      """)
    await withTaskGroup { group in
      for number in 0..<60 {
        group.addTask {
          let isBad = number % 10 == 3
          let account = Account(isBad ? "bad" : "\(number)")
          do {
            let key = try await magic.update(account)
            #expect(!isBad)
            account.balance = key
            try await magic.update(account)
          } catch {
            #expect(isBad, "\(error)")
          }
        }
      }
    }
    let accounts = try await magic.object(of: Account.self)
    #expect(accounts.count == 55)
    for account in accounts.dropFirst() { #expect(account.balance == account.id) }
  }
}
