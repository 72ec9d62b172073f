import Conformance
import MagicData
import Testing

/// NULL represents a single nil, so nested optionals are rejected before a value is lost.
@Suite(.everyEngine) struct NestedOptionalTests {
  private struct Optional2: MagicObject {
    @MagicValue var name: String = ""
    @OptionalMagicValue var x: Double??
    init() {}
  }

  private struct Value2: MagicObject {
    @MagicValue var y: Int?? = 1
    init() {}
  }

  private struct Asset2: MagicObject {
    @OptionalMagicValue var file: MagicAsset<String>??
    init() {}
  }

  private struct Once: MagicObject {
    @MagicValue var y: Int? = 1
    @OptionalMagicValue var z: [Int?]?
    init() {}
  }

  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func reason(_ property: String) -> String {
    "“\(property)” is an optional of an optional, but NULL represents only one nil"
  }

  @Test func `a nested optional throws an error that names the property`() throws {
    #expect(throws: MagicError.unsuitableType(type: "Optional2", reason: reason("x"))) {
      try magic.update(Optional2())
    }
    #expect(throws: MagicError.unsuitableType(type: "Value2", reason: reason("y"))) {
      try magic.objects(of: Value2.self)
    }
    #expect(throws: MagicError.unsuitableType(type: "Asset2", reason: reason("file"))) {
      try magic.check(of: Asset2.self)
    }
  }

  @Test func `single optionals and optionals in collections are fetched as saved`() throws {
    let once = Once()
    (once.y, once.z) = (nil, [1, nil])
    try magic.update(once)
    let fetched = try magic.objects(of: Once.self)[0]
    #expect(fetched.y == nil && fetched.z == [1, nil])
  }
}
