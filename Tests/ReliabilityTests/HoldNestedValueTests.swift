import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests deeply nested values. Each case that could overflow the stack runs in its own process.
@Suite struct HoldNestedValueTests {
  final class Node: Codable, Equatable, Sendable {
    let children: [Node]

    init(levels: Int) {
      var node: Node?
      for _ in 0..<levels { node = Node(node) }
      children = node.map { [$0] } ?? []
    }

    private init(_ child: Node?) { children = child.map { [$0] } ?? [] }

    static func == (left: Node, right: Node) -> Bool {
      left.children.count == right.children.count
        && zip(left.children, right.children).allSatisfy(==)
    }
  }

  struct Owner: Record {
    var id = 1
    var node: Node
  }

  /// A value that encodes itself with deeply nested containers.
  struct Chain: Codable {
    var levels: Int

    init(levels: Int) { self.levels = levels }
    init(from decoder: any Decoder) throws { levels = 0 }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for _ in 0..<levels { container = container.nestedUnkeyedContainer() }
      try container.encode(1)
    }
  }

  struct ChainOwner: Record {
    var id = 1
    var chain: Chain
  }

  /// A record that encodes a property with deeply nested containers.
  struct ChainRow: Record {
    enum CodingKeys: CodingKey { case id, chain }
    var id = 1

    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      var row = encoder.container(keyedBy: CodingKeys.self)
      try row.encode(id, forKey: .id)
      var container = row.nestedUnkeyedContainer(forKey: .chain)
      for _ in 0..<100_000 { container = container.nestedUnkeyedContainer() }
    }
  }

  @Test(arguments: [0, 100, 200]) func `a deep value is stored and read`(levels: Int) throws {
    let database = try Database.memory()
    try database.write { try $0.update(Owner(node: Node(levels: levels))) }
    #expect(
      try database.read { try $0.object(of: Owner.self, primary: 1) }.node == Node(levels: levels))
    let store = try CodableStore(coder: JSONCoder())
    try store.insert(item: Node(levels: levels))
    #expect(try store.read() == [Node(levels: levels)])
    let asset = try Node.list(levels).assetData
    #expect(try [Node](assetData: asset) == Node.list(levels))
  }

  @Test(arguments: [600, 6_000])
  func `encoding a value that is too deep throws before it is written`(
    levels: Int
  ) async {
    await #expect(processExitsWith: .success) { [levels] in
      let node = Node(levels: levels)
      let database = try Database.memory()
      #expect(throws: EncodingError.self) {
        try database.write { try $0.update(Owner(node: node)) }
      }
      for coder in [JSONCoder(), SPONCoder()] as [any NestedCoder] {
        let store = try CodableStore(coder: coder)
        #expect(throws: EncodingError.self) { try store.insert(item: node) }
      }
      #expect(throws: EncodingError.self) { try [node].assetData }
      // Releasing the node is recursive, too.
      withExtendedLifetime(node) {}
    }
  }

  @Test func `nested containers above the limit throw`() async {
    await #expect(processExitsWith: .success) {
      let database = try Database.memory()
      #expect(throws: EncodingError.self) {
        try database.write { try $0.update(ChainOwner(chain: Chain(levels: 100_000))) }
      }
      #expect(throws: EncodingError.self) { try [Chain(levels: 100_000)].assetData }
      #expect(throws: EncodingError.self) { try database.write { try $0.update(ChainRow()) } }
    }
  }

  @Test(arguments: [600, 100_000]) func `reading JSON that is too deep throws`(
    levels: Int
  ) async {
    await #expect(processExitsWith: .success) { [levels] in
      let database = try Database.memory()
      try await database.write { try $0.update(Owner(node: Node(levels: 0))) }
      let json =
        String(repeating: #"{"children":["#, count: levels)
        + String(repeating: "]}", count: levels)
      try await database.executeChange("UPDATE Owner SET node = \(json)")
      #expect(throws: (any Error).self) {
        try database.read { try $0.object(of: Owner.self, primary: 1) }
      }
      #expect(throws: (any Error).self) { try [Node](assetData: Data("[\(json)]".utf8)) }
    }
  }
}

extension HoldNestedValueTests.Node {
  fileprivate static func list(_ levels: Int) -> [HoldNestedValueTests.Node] {
    [HoldNestedValueTests.Node(levels: levels)]
  }
}
