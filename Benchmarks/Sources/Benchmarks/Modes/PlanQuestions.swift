import MagicData
import SQLiteObjects

/// A query on the store of ``PlanGraph``, with all SQL statements that could be the fastest
/// equivalent.
struct PlanQuestion: Sendable {
  /// The filter in Swift notation.
  let name: String
  /// The fraction of the rows that match the conditions.
  let selectivity: String
  /// The single element of the list that the condition contains. Empty if it contains no list.
  var word = ""
  /// Runs the query and returns its integers.
  let query: @Sendable (MagicData) throws -> [Int]
  /// SQL statements that return the same integers in their first column.
  let candidates: [String]
  /// Whether the candidates must return the integers in the same order.
  var isOrdered = false
  /// Whether the statement writes. Its changes are rolled back, and its result isn't compared.
  var isWriting = false

  /// The values in the conditions of a query, and their selectivity.
  private struct SearchedValue: Sendable {
    /// The value that properties are compared with.
    let word: String
    /// The fraction of the rows with this value.
    let part: String
    /// The key of the node that this fraction of the edges references.
    let node: Int
    /// The key of the label that this fraction of the nodes has.
    let label: Int

    static let all = [
      SearchedValue(word: "rare", part: "1:10,000", node: 5, label: 2),
      SearchedValue(word: "half", part: "1:2", node: 1, label: 1),
    ]
  }

  /// Returns all questions, grouped by name.
  static func all(_ magic: MagicData) throws -> [PlanQuestion] {
    var questions: [PlanQuestion] = []
    for value in SearchedValue.all {
      let node = try magic.object(of: PlanNode.self, primary: value.node)
      let label = try magic.object(of: PlanLabel.self, primary: value.word)
      questions += references(value, node) + collections(value, node)
      questions += aggregates(value, node) + labels(value, label)
      questions += windows(value, node, label) + writes(value, node)
    }
    for first in SearchedValue.all {
      for second in SearchedValue.all { questions += try pairs(first, second, magic) }
    }
    questions += sorts
    var order: [String] = []
    for question in questions where !order.contains(question.name) { order.append(question.name) }
    return order.flatMap { name in questions.filter { $0.name == name } }
  }

  // MARK: - Kinds of questions

  private static func references(_ value: SearchedValue, _ node: PlanNode) -> [PlanQuestion] {
    let word = value.word
    func byNode(_ condition: String) -> [String] {
      [
        #"SELECT size FROM Edge WHERE "to" IN (SELECT id FROM Node WHERE \#(condition)) ORDER BY id"#,
        #"SELECT size FROM Edge WHERE +"to" IN (SELECT id FROM Node WHERE \#(condition)) ORDER BY id"#,
        #"SELECT Edge.size FROM Node CROSS JOIN Edge ON "to" = Node.id WHERE Node.\#(condition) ORDER BY Edge.id"#,
        #"SELECT Edge.size FROM Edge CROSS JOIN Node ON "to" = Node.id WHERE Node.\#(condition) ORDER BY Edge.id"#,
      ]
    }
    let direct = [
      #"SELECT size FROM Edge WHERE "to" = \#(value.node) ORDER BY id"#,
      #"SELECT size FROM Edge WHERE +"to" = \#(value.node) ORDER BY id"#,
    ]
    return [
      edges(#"\.$to == node"#, value, \.$to == node, direct),
      edges(#"\.$to.$id == 5"#, value, \.$to.$id == value.node, direct),
      edges(#"(\.$to).isIn([node])"#, value, (\PlanEdge.$to).isIn([node]), direct),
      edges(
        #"\.$to.$name == "x", indexed"#, value, \.$to.$name == word, byNode("name = '\(word)'")),
      edges(
        #"\.$to.$word == "x", not indexed"#, value, \.$to.$word == word, byNode("word = '\(word)'")
      ),
      edges(
        #"(\.$to.$name).isIn(["x"])"#, value, (\PlanEdge.$to.$name).isIn([word]),
        byNode("name = '\(word)'")),
      edges(
        #"\.$to.$name != "x""#, value, \.$to.$name != word,
        [
          #"SELECT size FROM Edge WHERE ("to" IN (SELECT id FROM Node WHERE name = '\#(word)')) IS NOT 1 ORDER BY id"#,
          #"SELECT Edge.size FROM Edge LEFT JOIN Node ON "to" = Node.id WHERE Node.name IS NOT '\#(word)' ORDER BY Edge.id"#,
        ]),
      PlanQuestion(
        name: #"count(of:where: \.$to.$word == "x")"#, selectivity: value.part,
        query: { [try $0.count(of: PlanEdge.self, where: \.$to.$word == word)] },
        candidates: byNode("word = '\(word)'").map {
          $0.replacing("Edge.size", with: "count(*)").replacing(
            "SELECT size", with: "SELECT count(*)")
        }),
    ]
  }

  private static func collections(_ value: SearchedValue, _ node: PlanNode) -> [PlanQuestion] {
    let word = value.word
    let toNode = #""to" = \#(value.node)"#
    let byName = #""to" IN (SELECT id FROM Node WHERE name = '\#(word)')"#
    let byWord = #""to" IN (SELECT id FROM Node WHERE word = '\#(word)')"#
    return [
      nodes(
        #"edges.contains { \.$to == node }"#, value, (\PlanNode.$edges).contains { \.$to == node },
        withEdge(toNode)),
      nodes(
        #"edges.contains { \.$to.$id == 5 }"#, value,
        (\PlanNode.$edges).contains { \.$to.$id == value.node }, withEdge(toNode)),
      nodes(
        #"edges.contains { (\.$to).isIn([node]) }"#, value,
        (\PlanNode.$edges).contains { (\PlanEdge.$to).isIn([node]) }, withEdge(toNode)),
      nodes(
        #"(\.$edges.$to).contains(node)"#, value, (\PlanNode.$edges.$to).contains(node),
        withEdge(toNode)),
      nodes(
        #"edges.contains { \.$to.$name == "x" }, indexed"#, value,
        (\PlanNode.$edges).contains { \.$to.$name == word },
        withEdge(byName)
          + [
            #"SELECT size FROM Node WHERE id IN (SELECT "from" FROM Edge WHERE +\#(byName)) ORDER BY id"#
          ]),
      nodes(
        #"edges.contains { \.$to.$word == "x" }, not indexed"#, value,
        (\PlanNode.$edges).contains { \.$to.$word == word },
        withEdge(byWord)
          + [
            #"SELECT size FROM Node WHERE id IN (SELECT "from" FROM Edge WHERE +\#(byWord)) ORDER BY id"#
          ]),
      nodes(
        #"(\.$edges.$to).contains { \.$name == "x" }"#, value,
        (\PlanNode.$edges.$to).contains { \.$name == word }, withEdge(byName)),
      nodes(
        #"edges.contains { \.$grade == "x" }, indexed"#, value,
        (\PlanNode.$edges).contains { \.$grade == word }, withEdge("grade = '\(word)'")),
      nodes(
        #"edges.contains { \.$word == "x" }, not indexed"#, value,
        (\PlanNode.$edges).contains { \.$word == word }, withEdge("word = '\(word)'")),
      nodes(
        #"!edges.contains { \.$to == node }"#, value,
        !(\PlanNode.$edges).contains { \.$to == node },
        withoutEdge(toNode)),
      nodes(
        #"edges.allSatisfy { \.$grade == "x" }"#, value,
        (\PlanNode.$edges).allSatisfy { \.$grade == word }, withoutEdge("grade IS NOT '\(word)'")),
      nodes(
        #"edges.allSatisfy { \.$grade != "x" }"#, value,
        (\PlanNode.$edges).allSatisfy { \.$grade != word }, withoutEdge("grade = '\(word)'")),
      PlanQuestion(
        name: #"count(of:where: edges.contains { \.$to == node })"#, selectivity: value.part,
        query: {
          [try $0.count(of: PlanNode.self, where: (\PlanNode.$edges).contains { \.$to == node })]
        },
        candidates: [
          #"SELECT count(*) FROM Node WHERE id IN (SELECT "from" FROM Edge WHERE \#(toNode))"#,
          #"SELECT count(DISTINCT "from") FROM Edge WHERE \#(toNode)"#,
        ]),
      PlanQuestion(
        name: #"objects(of:where: edges.contains { \.$grade == "x" })"#, selectivity: value.part,
        query: {
          try $0.objects(
            of: PlanEdge.self, where: (\PlanEdge.$from.$edges).contains { \.$grade == word }
          )
          .map(\.size)
        },
        candidates: [
          #"SELECT size, id, grade, word, text, "from", "to" FROM Edge WHERE "from" IN (SELECT "from" FROM Edge WHERE grade = '\#(word)') ORDER BY id"#,
          #"SELECT size, id, grade, word, text, "from", "to" FROM Edge WHERE +"from" IN (SELECT "from" FROM Edge WHERE grade = '\#(word)') ORDER BY id"#,
        ]),
    ]
  }

  private static func aggregates(_ value: SearchedValue, _ node: PlanNode) -> [PlanQuestion] {
    let word = value.word
    func groups(_ condition: String, _ having: String) -> [String] {
      [#""from""#, #"+"from""#].map {
        #"SELECT size FROM Node WHERE id IN (SELECT "from" FROM Edge WHERE \#(condition) GROUP BY \#($0) HAVING \#(having)) ORDER BY id"#
      } + [
        #"SELECT Node.size FROM Node WHERE (SELECT \#(having) FROM Edge WHERE "from" = Node.id AND +(\#(condition))) ORDER BY id"#
      ]
    }
    return [
      nodes(
        #"edges.count { \.$to == node } >= 2"#, value,
        (\PlanNode.$edges).count { \.$to == node } >= 2,
        groups(#""to" = \#(value.node)"#, "count(*) >= 2")),
      nodes(
        #"edges.count { \.$word == "x" } >= 2"#, value,
        (\PlanNode.$edges).count { \.$word == word } >= 2,
        groups("word = '\(word)'", "count(*) >= 2")),
      nodes(
        #"edges.count { \.$grade == "x" } == 0"#, value,
        (\PlanNode.$edges).count { \.$grade == word } == 0, withoutEdge("grade = '\(word)'")),
      nodes(
        #"edges.sum(\.$size, where: \.$to == node) > 900"#, value,
        (\PlanNode.$edges).sum(\.$size, where: \.$to == node) > 900,
        groups(#""to" = \#(value.node)"#, "sum(size) > 900")),
    ]
  }

  private static func labels(_ value: SearchedValue, _ label: PlanLabel) -> [PlanQuestion] {
    let link = "target = \(value.label)"
    return [
      nodes(
        #"(\.$tags).contains(label)"#, value, (\PlanNode.$tags).contains(label), withLabel(link)),
      nodes(
        #"tags.contains { \.$word == "x" }"#, value,
        (\PlanNode.$tags).contains { \.$word == value.word },
        withLabel(link)),
      PlanQuestion(
        name: #"labels: nodes.contains { \.$name == "x" }"#, selectivity: value.part,
        query: {
          try $0.fetch(
            PlanLabel.where((\PlanLabel.$nodes).contains { \.$name == value.word }).values(\.$word)
          ).map(\.utf8.count)
        },
        candidates: [
          "SELECT length(word) FROM Label WHERE z_index IN (SELECT target FROM Node_tags JOIN Node ON Node.id = owner WHERE name = '\(value.word)') ORDER BY z_index",
          "SELECT length(word) FROM Label WHERE z_index IN (SELECT target FROM Node_tags WHERE owner IN (SELECT id FROM Node WHERE name = '\(value.word)')) ORDER BY z_index",
          "SELECT length(word) FROM Label WHERE EXISTS (SELECT 1 FROM Node_tags CROSS JOIN Node ON Node.id = owner WHERE target = z_index AND +name = '\(value.word)') ORDER BY z_index",
        ]),
    ]
  }

  private static func windows(
    _ value: SearchedValue, _ node: PlanNode, _ label: PlanLabel
  ) -> [PlanQuestion] {
    let filter: SQLiteObjects.Filter<PlanNode> = (\PlanNode.$edges).contains { \.$to == node }
    let candidates = withEdge(#""to" = \#(value.node)"#)
    func part(_ order: String, _ limit: Int) -> [String] {
      candidates.map { $0.replacing(" ORDER BY id", with: " ORDER BY \(order) LIMIT \(limit)") }
    }
    let unindexed: SQLiteObjects.Filter<PlanNode> = (\PlanNode.$edges).contains {
      \.$word == value.word
    }
    return [
      PlanQuestion(
        name: #"the first 50 with edges.contains { \.$to == node }"#, selectivity: value.part,
        query: { try $0.fetch(PlanNode.where(filter).limit(50).values(\.$size)) },
        candidates: part("id", 50), isOrdered: true),
      PlanQuestion(
        name: #"the same, ordered by \.$name"#, selectivity: value.part,
        query: {
          try $0.fetch(
            PlanNode.where(filter).ordered(by: .ascending(\.$name)).limit(50).values(\.$size))
        }, candidates: part("name, id", 50), isOrdered: true),
      PlanQuestion(
        name: #"the same, ordered by \.$word, not indexed"#, selectivity: value.part,
        query: {
          try $0.fetch(
            PlanNode.where(filter).ordered(by: .ascending(\.$word)).limit(50).values(\.$size))
        }, candidates: part("word, id", 50), isOrdered: true),
      PlanQuestion(
        name: #"the first with edges.contains { \.$to == node }"#, selectivity: value.part,
        query: { try $0.fetch(PlanNode.where(filter).limit(1).values(\.$size)) },
        candidates: part("id", 1), isOrdered: true),
      PlanQuestion(
        name: #"the first 50 with edges.contains { \.$word == "x" }, not indexed"#,
        selectivity: value.part,
        query: { try $0.fetch(PlanNode.where(unindexed).limit(50).values(\.$size)) },
        candidates: withEdge("word = '\(value.word)'").map { $0 + " LIMIT 50" }, isOrdered: true),
      PlanQuestion(
        name: #"the first 50 edges with \.$to.$name == "x""#, selectivity: value.part,
        query: {
          try $0.fetch(PlanEdge.where(\.$to.$name == value.word).limit(50).values(\.$size))
        },
        candidates: [
          #"SELECT size FROM Edge WHERE "to" IN (SELECT id FROM Node WHERE name = '\#(value.word)') ORDER BY id LIMIT 50"#,
          #"SELECT Edge.size FROM Edge CROSS JOIN Node ON Node.id = "to" WHERE +name = '\#(value.word)' ORDER BY Edge.id LIMIT 50"#,
        ], isOrdered: true),
    ]
  }

  private static func writes(_ value: SearchedValue, _ node: PlanNode) -> [PlanQuestion] {
    let toNode = #""to" = \#(value.node)"#
    return [
      PlanQuestion(
        name: #"updateAll, edges.contains { \.$to == node }"#, selectivity: value.part,
        query: {
          [
            try $0.updateAll(
              PlanNode.where((\PlanNode.$edges).contains { \.$to == node }),
              set: [.set(\.$size, to: 1)])
          ]
        },
        candidates: [
          #"UPDATE Node SET size = 1 WHERE id IN (SELECT "from" FROM Edge WHERE \#(toNode))"#,
          #"UPDATE Node SET size = 1 WHERE EXISTS (SELECT 1 FROM Edge WHERE "from" = Node.id AND +\#(toNode))"#,
        ], isWriting: true),
      PlanQuestion(
        name: #"removeAll, \.$to.$name == "x""#, selectivity: value.part,
        query: { [try $0.removeAll(PlanEdge.where(\.$to.$name == value.word))] },
        candidates: [
          #"DELETE FROM Edge WHERE "to" IN (SELECT id FROM Node WHERE name = '\#(value.word)')"#,
          #"DELETE FROM Edge WHERE +"to" IN (SELECT id FROM Node WHERE name = '\#(value.word)')"#,
        ], isWriting: true),
    ]
  }

  private static func pairs(
    _ first: SearchedValue, _ second: SearchedValue, _ magic: MagicData
  ) throws -> [PlanQuestion] {
    let part = "\(first.part) and \(second.part)"
    let one = try magic.object(of: PlanNode.self, primary: first.node)
    let other = try magic.object(of: PlanNode.self, primary: second.node)
    let label = try magic.object(of: PlanLabel.self, primary: first.word)
    let otherLabel = try magic.object(of: PlanLabel.self, primary: second.word)
    func question(_ name: String, _ filter: SQLiteObjects.Filter<PlanNode>, _ candidates: [String])
      -> PlanQuestion
    {
      PlanQuestion(
        name: name, selectivity: part,
        query: { try $0.fetch(PlanNode.where(filter).values(\.$size)) }, candidates: candidates)
    }
    let (toOne, toOther) = (#""to" = \#(first.node)"#, #""to" = \#(second.node)"#)
    let named = "name = '\(first.word)'"
    return [
      question(
        #"\.$name == "x" && edges.contains { \.$to == node }"#,
        \.$name == first.word && (\PlanNode.$edges).contains { \.$to == other },
        withEdge(toOther).flatMap {
          [
            $0.replacing(" WHERE id", with: " WHERE \(named) AND id").replacing(
              " WHERE EXISTS", with: " WHERE \(named) AND EXISTS"),
            $0.replacing(" WHERE id", with: " WHERE +\(named) AND id"),
          ].filter { $0.contains("name") }
        }),
      question(
        #"\.$word == "x" && edges.contains { \.$to == node }"#,
        \.$word == first.word && (\PlanNode.$edges).contains { \.$to == other },
        withEdge(toOther).map {
          $0.replacing(" WHERE id", with: " WHERE word = '\(first.word)' AND id").replacing(
            " WHERE EXISTS", with: " WHERE word = '\(first.word)' AND EXISTS")
        }),
      question(
        #"edges.contains { \.$to == a } && edges.contains { \.$to == b }"#,
        (\PlanNode.$edges).contains { \.$to == one }
          && (\PlanNode.$edges).contains { \.$to == other },
        withBothEdges(toOne, toOther)),
      question(
        #"(\.$tags).contains(a) && (\.$tags).contains(b)"#,
        (\PlanNode.$tags).contains(label) && (\PlanNode.$tags).contains(otherLabel),
        [
          "SELECT size FROM Node WHERE id IN (SELECT owner FROM Node_tags WHERE target = \(first.label)) AND id IN (SELECT owner FROM Node_tags WHERE target = \(second.label)) ORDER BY id",
          "SELECT size FROM Node WHERE id IN (SELECT a.owner FROM Node_tags a CROSS JOIN Node_tags b ON a.owner = b.owner WHERE a.target = \(first.label) AND b.target = \(second.label)) ORDER BY id",
          "SELECT size FROM Node WHERE id IN (SELECT a.owner FROM Node_tags a CROSS JOIN Node_tags b ON a.owner = b.owner WHERE a.target = \(second.label) AND b.target = \(first.label)) ORDER BY id",
          "SELECT size FROM Node_tags a CROSS JOIN Node_tags b ON a.owner = b.owner CROSS JOIN Node ON id = a.owner WHERE a.target = \(first.label) AND b.target = \(second.label) ORDER BY a.owner",
          "SELECT size FROM Node_tags a CROSS JOIN Node_tags b ON a.owner = b.owner CROSS JOIN Node ON id = a.owner WHERE a.target = \(second.label) AND b.target = \(first.label) ORDER BY a.owner",
        ]),
      PlanQuestion(
        name: #"\.$grade == "x" && \.$to == node"#, selectivity: part,
        query: {
          try $0.fetch(
            PlanEdge.where(\.$grade == first.word && \.$to == other).values(\.$size))
        },
        candidates: [
          #"SELECT size FROM Edge WHERE grade = '\#(first.word)' AND +\#(toOther) ORDER BY id"#,
          #"SELECT size FROM Edge WHERE +grade = '\#(first.word)' AND \#(toOther) ORDER BY id"#,
          #"SELECT size FROM Edge WHERE +grade = '\#(first.word)' AND +\#(toOther) ORDER BY id"#,
        ]),
      question(
        #"edges.contains { \.$grade == "x" && \.$to == node }"#,
        (\PlanNode.$edges).contains { \.$grade == first.word && \.$to == other },
        withEdge("grade = '\(first.word)' AND +\(toOther)")
          + withEdge("+grade = '\(first.word)' AND \(toOther)")),
      question(
        #"edges.contains { \.$word == "x" } && edges.contains { \.$to == node }"#,
        (\PlanNode.$edges).contains { \.$word == first.word }
          && (\PlanNode.$edges).contains { \.$to == other },
        withBothEdges("word = '\(first.word)'", toOther)),
    ]
  }

  private static let sorts = [
    PlanQuestion(
      name: #"edges ordered by \.$to.$name, the first 50"#, selectivity: "all",
      query: {
        try $0.fetch(PlanEdge.ordered(by: .ascending(\.$to.$name)).limit(50).values(\.$size))
      },
      candidates: [
        #"SELECT Edge.size FROM Edge LEFT JOIN Node ON Node.id = "to" ORDER BY Node.name, Edge.id LIMIT 50"#,
        #"SELECT size FROM Edge WHERE id IN (SELECT e.id FROM Edge AS e LEFT JOIN Node ON Node.id = e."to" ORDER BY Node.name, e.id LIMIT 50) ORDER BY (SELECT name FROM Node WHERE Node.id = "to"), Edge.id"#,
      ], isOrdered: true),
    PlanQuestion(
      name: #"objects ordered by \.$to.$name, the first 50"#, selectivity: "all",
      query: {
        try $0.objects(of: PlanEdge.self, orderedBy: [.ascending(\.$to.$name)], limit: 50).map(
          \.size)
      },
      candidates: [
        #"SELECT Edge.size, Edge.id, grade, Edge.word, Edge.text, "from", "to" FROM Edge LEFT JOIN Node ON Node.id = "to" ORDER BY Node.name, Edge.id LIMIT 50"#,
        #"SELECT size, id, grade, word, text, "from", "to" FROM Edge WHERE id IN (SELECT e.id FROM Edge AS e LEFT JOIN Node ON Node.id = e."to" ORDER BY Node.name, e.id LIMIT 50) ORDER BY (SELECT name FROM Node WHERE Node.id = "to"), Edge.id"#,
      ], isOrdered: true),
    PlanQuestion(
      name: #"nodes ordered by edges.count, the first 50"#, selectivity: "all",
      query: {
        try $0.fetch(
          PlanNode.ordered(by: .descending((\PlanNode.$edges).count)).limit(50).values(\.$size))
      },
      candidates: [
        #"SELECT size FROM Node ORDER BY (SELECT count(*) FROM Edge WHERE "from" = Node.id) DESC, id LIMIT 50"#,
        #"SELECT size FROM Node LEFT JOIN (SELECT "from", count(*) AS count FROM Edge GROUP BY "from") ON "from" = id ORDER BY ifnull(count, 0) DESC, id LIMIT 50"#,
      ], isOrdered: true),
    PlanQuestion(
      name: #"nodes ordered by edges.sum(\.$size), the first 50"#, selectivity: "all",
      query: {
        try $0.fetch(
          PlanNode.ordered(by: .descending((\PlanNode.$edges).sum(\.$size))).limit(50).values(
            \.$size))
      },
      candidates: [
        #"SELECT size FROM Node ORDER BY (SELECT ifnull(sum(size), 0) FROM Edge WHERE "from" = Node.id) DESC, id LIMIT 50"#,
        #"SELECT Node.size FROM Node LEFT JOIN (SELECT "from", sum(size) AS sum FROM Edge GROUP BY +"from") ON "from" = id ORDER BY ifnull(sum, 0) DESC, id LIMIT 50"#,
      ], isOrdered: true),
    PlanQuestion(
      name: #"nodes with edges.isEmpty"#, selectivity: "all",
      query: { try $0.fetch(PlanNode.where((\PlanNode.$edges).isEmpty).values(\.$size)) },
      candidates: [
        #"SELECT size FROM Node WHERE NOT EXISTS (SELECT 1 FROM Edge WHERE "from" = Node.id) ORDER BY id"#,
        #"SELECT size FROM Node WHERE id NOT IN (SELECT "from" FROM Edge) ORDER BY id"#,
      ]),
    PlanQuestion(
      name: #"nodes with edges.count > 5"#, selectivity: "all",
      query: { try $0.fetch(PlanNode.where((\PlanNode.$edges).count > 5).values(\.$size)) },
      candidates: [
        #"SELECT size FROM Node WHERE (SELECT count(*) FROM Edge WHERE "from" = Node.id) > 5 ORDER BY id"#,
        #"SELECT size FROM Node WHERE id IN (SELECT "from" FROM Edge GROUP BY "from" HAVING count(*) > 5) ORDER BY id"#,
      ]),
  ]

  // MARK: - SQL

  private static func edges(
    _ name: String, _ value: SearchedValue, _ filter: SQLiteObjects.Filter<PlanEdge>,
    _ candidates: [String]
  ) -> PlanQuestion {
    PlanQuestion(
      name: name, selectivity: value.part, word: value.word,
      query: { try $0.fetch(PlanEdge.where(filter).values(\.$size)) }, candidates: candidates)
  }

  private static func nodes(
    _ name: String, _ value: SearchedValue, _ filter: SQLiteObjects.Filter<PlanNode>,
    _ candidates: [String]
  ) -> PlanQuestion {
    PlanQuestion(
      name: name, selectivity: value.part,
      query: { try $0.fetch(PlanNode.where(filter).values(\.$size)) }, candidates: candidates)
  }

  /// Returns queries for the nodes with at least one edge that matches a condition.
  private static func withEdge(_ condition: String) -> [String] {
    [
      #"SELECT size FROM Node WHERE id IN (SELECT "from" FROM Edge WHERE \#(condition)) ORDER BY id"#,
      #"SELECT size FROM Node WHERE EXISTS (SELECT 1 FROM Edge WHERE "from" = Node.id AND +(\#(condition))) ORDER BY id"#,
    ]
  }

  private static func withoutEdge(_ condition: String) -> [String] {
    [
      #"SELECT size FROM Node WHERE id NOT IN (SELECT "from" FROM Edge WHERE \#(condition)) ORDER BY id"#,
      #"SELECT size FROM Node WHERE NOT EXISTS (SELECT 1 FROM Edge WHERE "from" = Node.id AND +(\#(condition))) ORDER BY id"#,
    ]
  }

  private static func withLabel(_ condition: String) -> [String] {
    [
      "SELECT size FROM Node WHERE id IN (SELECT owner FROM Node_tags WHERE \(condition)) ORDER BY id",
      "SELECT size FROM Node WHERE EXISTS (SELECT 1 FROM Node_tags WHERE owner = id AND \(condition)) ORDER BY id",
      "SELECT size FROM Node_tags CROSS JOIN Node ON id = owner WHERE \(condition) ORDER BY owner",
    ]
  }

  /// Returns queries for the nodes with an edge that matches one condition and an edge that matches
  /// another one.
  private static func withBothEdges(_ one: String, _ other: String) -> [String] {
    func edge(_ condition: String) -> String { #"SELECT "from" FROM Edge WHERE \#(condition)"# }
    func exists(_ condition: String) -> String {
      #"EXISTS (SELECT 1 FROM Edge WHERE "from" = Node.id AND +(\#(condition)))"#
    }
    return [
      "id IN (\(edge(one))) AND id IN (\(edge(other)))",
      "id IN (\(edge(one))) AND \(exists(other))",
      "id IN (\(edge(other))) AND \(exists(one))",
      "id IN (\(edge(one)) INTERSECT \(edge(other)))",
    ]
    .map { "SELECT size FROM Node WHERE \($0) ORDER BY id" }
  }
}
