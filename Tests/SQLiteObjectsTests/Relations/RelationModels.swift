import MagicData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What relations lead to.
struct Leaf: MagicObject {
  @MagicValue var text: String
  @ReverseMagicValue(\Tree.$set) var setOwners: AsyncReverseMagicSet<Tree>
  @ReverseMagicValue(\Tree.$list) var listOwners: AsyncReverseMagicSet<Tree>
  @ReverseMagicValue(\Tree.$one) var oneOwners: AsyncReverseMagicSet<Tree>
  @ReverseMagicValue(\Tree.$lazyList) var lazyOwners: AsyncReverseMagicSet<Tree>

  init() {}

  init(_ text: String) {
    self.text = text
  }
}

enum Side: String, Codable, Hashable {
  case left
  case right
}

/// An object with each shape of a relation, eager and lazy.
struct Tree: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionMagicValue var one: Leaf?
  @MagicValue var list: [Leaf]
  @MagicValue var set: MagicalSet<Leaf>
  @MagicValue var byName: [String: Leaf]
  @MagicValue var bySide: [Side: Leaf]
  @MagicValue var lazyOne: AsyncMagical<Leaf>
  @MagicValue var lazyList: AsyncMagical<[Leaf]>
  @MagicValue var lazySet: AsyncMagical<MagicalSet<Leaf>>
  @MagicValue var lazyByName: AsyncMagical<[String: Leaf]>

  init() {}

  init(_ name: String, lazyOne: Leaf = Leaf("lazy")) {
    self.name = name
    list = []
    set = []
    byName = [:]
    bySide = [:]
    self.lazyOne = AsyncMagical(value: lazyOne)
    lazyList = AsyncMagical(value: [])
    lazySet = AsyncMagical(value: [])
    lazyByName = AsyncMagical(value: [:])
  }
}

/// An object without a primary value, with relations to its own type.
struct Node: MagicObject {
  @MagicValue var name: String
  @OptionMagicValue var parent: Node?
  @MagicValue var children: [Node]

  init() {}

  init(_ name: String) {
    self.name = name
    children = []
  }
}

/// What something costs in the database.
struct Cost {
  var statements: Int
  var rows: Int
}

extension MagicData {
  /// Runs `body` on one connection, and says what that cost. For stores in memory.
  func cost<Result>(_ body: () throws -> Result) throws -> (result: Result, cost: Cost) {
    func totals() throws -> Cost {
      try database.read { connection in
        Cost(
          statements: connection.statementCount,
          rows: try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0)
      }
    }
    // Asking is three statements: BEGIN, SELECT and COMMIT, of which one comes before the count.
    let before = try totals()
    let result = try body()
    let after = try totals()
    return (
      result,
      Cost(statements: after.statements - before.statements - 3, rows: after.rows - before.rows)
    )
  }

  /// The rows whose foreign keys lead nowhere.
  func violations() throws -> Int {
    try database.read { try $0.executeQuery("PRAGMA foreign_key_check").count }
  }
}
