import Foundation
import MagicData
import SQLiteCore
import Synchronization

/// The store for measuring query plans: 20,000 nodes, 100,000 edges and about 60,000 links to
/// labels.
///
/// Each compared property has one value in 1 of 10,000 rows and another value in half of the rows.
/// The targets of the edges and the labels are distributed in the same way.
struct PlanGraph {
  static let nodes = 20_000
  static let edges = 100_000
  private static let labels = 1_000

  let magic: MagicData
  /// The statements, including bound values, that the store has run since the last
  /// ``Statements/take()``.
  let statements: Statements

  /// A thread-safe list of statements.
  final class Statements: Sendable {
    private let list = Mutex<[String]>([])

    fileprivate func append(_ sql: String) { list.withLock { $0.append(sql) } }

    func take() -> [String] {
      list.withLock { list in
        defer { list = [] }
        return list
      }
    }
  }

  init(path: String) throws {
    let statements = Statements()
    var options = Database.Options.settings()
    let settings = options.prepareConnection
    options.prepareConnection = { connection in
      try settings?(connection)
      try connection.trace(showsValues: true) { event in
        if case .begins(let sql) = event { statements.append(sql) }
      }
    }
    self.statements = statements
    magic = try MagicData(path: path, options: options)
    try fill()
  }

  private func fill() throws {
    let node = PlanNode()
    node.tags = [PlanLabel("x")]
    let edge = PlanEdge()
    edge.from = node
    // The first save creates the tables.
    try magic.update(edge)
    var random = SplitMix64(seed: 20_261_126)
    func word(_ row: Int, _ rest: Int) -> String {
      if row % 10_000 == rest { return "rare" }
      return Bool.random(using: &random) ? "half" : "w\(Int.random(in: 0..<1_000, using: &random))"
    }
    try magic.database.write { connection in
      for table in ["Edge", "Node_tags", "Node", "Label"] {
        try connection.executeChange("DELETE FROM \(identifier: table)")
      }
      var insert = try connection.statement(
        "INSERT INTO Label (z_index, word) VALUES (?, ?)")
      for label in 1...Self.labels {
        let word = label == 1 ? "half" : label == 2 ? "rare" : "l\(label)"
        try insert.run(label, word)
      }
      let text = String(repeating: "n", count: 60)
      for row in 1...Self.nodes {
        try connection.executeChange(
          "INSERT INTO Node (id, name, word, size, text) VALUES (\(row), \(word(row, 7)), \(word(row, 11)), \(Int.random(in: 0..<1_000, using: &random)), \(text))"
        )
        var tags: Set<Int> = row % 10_000 == 9 ? [2] : []
        if Bool.random(using: &random) { tags.insert(1) }
        for _ in 0..<2 { tags.insert(Int.random(in: 3...Self.labels, using: &random)) }
        for tag in tags.sorted() {
          try connection.executeChange(
            "INSERT INTO Node_tags (owner, target) VALUES (\(row), \(tag))")
        }
      }
      for row in 1...Self.edges {
        let from = Int.random(in: 1...Self.nodes, using: &random)
        var to: Int? = Int.random(in: 20...Self.nodes, using: &random)
        if row % 10_000 == 3 { to = 5 } else if Bool.random(using: &random) { to = 1 }
        if row % 100 == 50 { to = nil }
        try connection.executeChange(
          "INSERT INTO Edge (id, grade, word, size, text, \"from\", \"to\") VALUES (\(row), \(word(row, 5)), \(word(row, 6)), \(Int.random(in: 0..<1_000, using: &random)), \(text), \(from), \(to))"
        )
      }
    }
    _ = statements.take()
  }
}

struct PlanNode: MagicObject {
  static let tableName = "Node"
  static let traits: [PropertyTrait] = [.indexed(\Self.$name)]

  @PrimaryMagicValue var id: Int
  /// An indexed property.
  @MagicValue var name: String = ""
  /// A property without an index.
  @MagicValue var word: String = ""
  @MagicValue var size: Int = 0
  @MagicValue var text: String = ""
  @MagicValue var tags: MagicalSet<PlanLabel> = []
  @ReverseMagicValue(\PlanEdge.$from) var edges: AsyncReverseMagicSet<PlanEdge>
  @ReverseMagicValue(\PlanEdge.$to) var incoming: AsyncReverseMagicSet<PlanEdge>

  init() {}
}

struct PlanEdge: MagicObject {
  static let tableName = "Edge"
  static let traits: [PropertyTrait] = [.indexed(\Self.$grade)]

  @PrimaryMagicValue var id: Int
  /// An indexed property.
  @MagicValue var grade: String = ""
  /// A property without an index.
  @MagicValue var word: String = ""
  @MagicValue var size: Int = 0
  @MagicValue var text: String = ""
  @MagicValue var from: PlanNode
  @OptionalMagicValue var to: PlanNode?

  init() {}
}

struct PlanLabel: MagicObject {
  static let tableName = "Label"

  @PrimaryMagicValue var word: String
  @ReverseMagicValue(\PlanNode.$tags) var nodes: AsyncReverseMagicSet<PlanNode>

  init() {}

  init(_ word: String) { self.word = word }
}
