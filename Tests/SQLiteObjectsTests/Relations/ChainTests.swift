import Conformance
import MagicData
import Testing

/// A class whose objects reference objects of the same class.
final class Segment: MagicObject {
  @OptionalMagicValue var next: Segment?
  @MagicValue var others: [Segment]
  @MagicValue var lazy: AsyncMagical<[Segment]>

  init() {
    others = []
    lazy = AsyncMagical(value: [])
  }
}

@Suite struct ChainTests {
  /// The kind of relation that connects the objects of a chain.
  enum Shape: String, CaseIterable, Codable, Sendable {
    case object
    case list
    case lazy
  }

  private func chain(_ shape: Shape, _ length: Int = 50_000) -> Segment {
    let first = Segment()
    var last = first
    for _ in 1..<length {
      let next = Segment()
      switch shape {
      case .object: last.next = next
      case .list: last.others = [next]
      case .lazy: last.lazy.set([next])
      }
      last = next
    }
    return first
  }

  @Test(arguments: Shape.allCases)
  func `a chain of new objects is freed without recursion`(shape: Shape) async {
    await #expect(processExitsWith: .success) { [shape] in
      var chain: Segment? = ChainTests().chain(shape)
      #expect(chain != nil)
      chain = nil
    }
  }

  @Test func `a chain of new structs is freed without recursion`() async {
    await #expect(processExitsWith: .success) {
      var first: Node? = Node("0")
      var last = first
      for number in 1..<50_000 {
        let next = Node("\(number)")
        last?.parent = next
        last = next
      }
      last = nil
      first = nil
      #expect(first == nil)
    }
  }

  @Test(.everyEngine, arguments: Shape.allCases)
  func `a chain of new objects is saved and freed without recursion`(shape: Shape) async throws {
    // A cluster's nodes belong to this process, so the test can't run in another one.
    guard Engine.current == .local else { return try save(shape, 2_000) }
    await #expect(processExitsWith: .success) { [shape] in try ChainTests().save(shape, 50_000) }
  }

  private func save(_ shape: Shape, _ length: Int) throws {
    let magic = try MagicData.fresh()
    var chain: Segment? = chain(shape, length)
    if let chain { try magic.update(chain) }
    chain = nil
    #expect(try magic.count(of: Segment.self) == length)
  }
}
