import Foundation
import MagicData

/// An account with its balance in cents.
struct Account: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("name")]

  var id: Int?
  var name: String
  var cents: Int
}

/// A transfer of money between two accounts.
struct Transfer: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("source"), .indexed("target")]

  var id: Int?
  var source: Int
  var target: Int
  var cents: Int
  var madeAt: Date
}

/// The error of a transfer that exceeds the balance of the source account.
struct NotEnoughError: Error {
  var account: String
  var cents: Int
}

/// The accounts in a database. Any number of tasks can transfer money between them concurrently.
struct Accounts {
  let database: Database

  /// Transfers money and returns the stored transfer.
  ///
  /// The transfer is durable when the call returns. Concurrent calls can share one commit.
  ///
  /// - Throws: ``NotEnoughError`` if the balance of `source` is too low. Nothing is changed then.
  func move(_ cents: Int, from source: Int, to target: Int) async throws -> Transfer {
    try await database.writeInGroup { connection in
      // The closure can run again in another transaction, so it has no effects outside the
      // connection.
      var payer = try connection.object(of: Account.self, primary: source)
      guard payer.cents >= cents else {
        throw NotEnoughError(account: payer.name, cents: payer.cents)
      }
      payer.cents -= cents
      try connection.updateExisting(payer)
      // Fetched after the first update, because source and target can be the same account.
      var payee = try connection.object(of: Account.self, primary: target)
      payee.cents += cents
      try connection.updateExisting(payee)
      return try connection.insert(
        Transfer(source: source, target: target, cents: cents, madeAt: Date()))
    }
  }

  /// Returns the total of all balances in cents, and the names of the accounts with a balance that
  /// doesn't match their transfers. Reads both from one snapshot.
  ///
  /// - Parameter start: The initial balance of each account, in cents.
  func audit(start: Int) throws -> (sum: Int, wrong: [String]) {
    try database.read { connection in
      let sum = try connection.firstRow("SELECT sum(cents) FROM Account", as: Int.self) ?? 0
      let wrong = try connection.rows(
        """
        SELECT name FROM Account WHERE cents <> \(start)
          + (SELECT total(cents) FROM Transfer WHERE target = Account.id)
          - (SELECT total(cents) FROM Transfer WHERE source = Account.id)
        """, as: String.self)
      return (sum, Array(wrong))
    }
  }
}

/// A program with 100 concurrent tasks that transfer money between ten accounts. Finally it audits
/// the accounts.
@main struct Ledger {
  static func main() async throws {
    let start = 100_000
    let accounts = Accounts(database: try Database.temporary())
    let names = ["Ada", "Bob", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jo"]
    let ids = try await accounts.database.write { connection in
      try connection.prepare(Transfer.self)
      return try connection.insert(names.map { Account(name: $0, cents: start) }).compactMap(\.id)
    }

    let began = ContinuousClock.now
    let rejected = try await withThrowingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          var rejected = 0
          for _ in 0..<20 {
            guard let source = ids.randomElement(), let target = ids.randomElement() else { break }
            do {
              _ = try await accounts.move(Int.random(in: 1...60_000), from: source, to: target)
            } catch is NotEnoughError {
              rejected += 1
            }
          }
          return rejected
        }
      }
      var sum = 0
      for try await rejected in group { sum += rejected }
      return sum
    }
    let seconds = (ContinuousClock.now - began) / .seconds(1)

    let made = try await accounts.database.readBriefly { try $0.count(of: Transfer.self) }
    print(
      "\(made) transfers, each durable, in \((seconds * 100).rounded() / 100) s; \(rejected) rejected"
    )
    let ordered = try await accounts.database.read {
      try $0.objects(of: Account.self, orderedBy: .column("name"))
    }
    for account in ordered {
      print(
        "  \(account.name): \(account.cents / 100).\(account.cents % 100 / 10)\(account.cents % 10)"
      )
    }
    let (sum, wrong) = try accounts.audit(start: start)
    guard sum == start * names.count, wrong.isEmpty, made + rejected == 2_000 else {
      print("the books do not add up: \(sum), \(wrong)")
      exit(1)
    }
    print("the books add up to \(sum / 100)")
  }
}
