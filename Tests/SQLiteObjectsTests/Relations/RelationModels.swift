import Conformance
import MagicData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The target of relations.
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

/// An object with each kind of relation, eager and lazy.
struct Tree: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionalMagicValue var one: Leaf?
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
  @OptionalMagicValue var parent: Node?
  @MagicValue var children: [Node]

  init() {}

  init(_ name: String) {
    self.name = name
    children = []
  }
}

/// The statements and row changes that a closure causes.
struct Cost {
  var statements: Int
  var rows: Int
}

extension MagicData {
  /// Runs `body` and returns its result and cost. Supports stores in memory, which have one
  /// connection, and stores of a cluster, for which the writer connection and one reader are added.
  func cost<Result>(_ body: () throws -> Result) throws -> (result: Result, cost: Cost) {
    func total(_ connection: Connection) throws -> Cost {
      _ = try connection.firstRow("SELECT 1", as: Int.self)
      return Cost(statements: connection.statementCount, rows: Int(connection.totalChanges))
    }
    func totals() throws -> [Cost] {
      let reading = try database.read { try total($0) }
      return Engine.current == .local ? [reading] : [reading, try database.write { try total($0) }]
    }
    let before = try totals()
    let result = try body()
    var cost = Cost(statements: 0, rows: 0)
    for (before, after) in zip(before, try totals()) {
      // Each measurement executes BEGIN, SELECT and COMMIT. Two of them precede the count.
      cost.statements += after.statements - before.statements - 3
      cost.rows += after.rows - before.rows
    }
    return (result, cost)
  }

  /// Returns the number of rows that violate a foreign key.
  func violations() throws -> Int {
    try database.read { try $0.executeQuery("PRAGMA foreign_key_check").count }
  }
}
