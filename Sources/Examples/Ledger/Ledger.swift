import Foundation
import MagicData

/// An account and the cents on it.
struct Account: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("name")]

  var id: Int?
  var name: String
  var cents: Int
}

/// Cents that went from one account to another.
struct Transfer: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("source"), .indexed("target")]

  var id: Int?
  var source: Int
  var target: Int
  var cents: Int
  var madeAt: Date
}

/// A transfer of more than there is.
struct NotEnoughError: Error {
  var account: String
  var cents: Int
}

/// Accounts in a database, between which any number of tasks may move money.
struct Accounts {
  let database: Database

  /// Moves money, and returns the transfer as it was stored. Each call is durable when it returns; calls that
  /// wait at the same time share one commit.
  ///
  /// - Throws: ``NotEnoughError``, by which nothing is changed.
  func move(_ cents: Int, from source: Int, to target: Int) async throws -> Transfer {
    try await database.writeInGroup { connection in
      // The closure may run again in another transaction: its only effects are on the connection.
      var payer = try connection.object(of: Account.self, primary: source)
      guard payer.cents >= cents else {
        throw NotEnoughError(account: payer.name, cents: payer.cents)
      }
      payer.cents -= cents
      try connection.updateExisting(payer)
      // Fetched after the change, as both may be one account.
      var payee = try connection.object(of: Account.self, primary: target)
      payee.cents += cents
      try connection.updateExisting(payee)
      return try connection.insert(
        Transfer(source: source, target: target, cents: cents, madeAt: Date()))
    }
  }

  /// Returns the sum of all accounts, and the names of those whose transfers do not add up to their balance, in one
  /// snapshot.
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

/// A hundred tasks that move money between ten accounts at once.
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
    let refused = try await withThrowingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          var refused = 0
          for _ in 0..<20 {
            guard let source = ids.randomElement(), let target = ids.randomElement() else { break }
            do {
              _ = try await accounts.move(Int.random(in: 1...60_000), from: source, to: target)
            } catch is NotEnoughError {
              refused += 1
            }
          }
          return refused
        }
      }
      var sum = 0
      for try await refused in group { sum += refused }
      return sum
    }
    let seconds = (ContinuousClock.now - began) / .seconds(1)

    let made = try await accounts.database.readBriefly { try $0.count(of: Transfer.self) }
    print(
      "\(made) transfers, each durable, in \((seconds * 100).rounded() / 100) s; \(refused) refused"
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
    guard sum == start * names.count, wrong.isEmpty, made + refused == 2_000 else {
      print("the books do not add up: \(sum), \(wrong)")
      exit(1)
    }
    print("the books add up to \(sum / 100)")
  }
}
