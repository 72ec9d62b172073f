import Conformance
import MagicData
import Testing

private struct Twig: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  init() {}
  init(_ text: String) { self.text = text }
}

private struct Bough: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text = "branch"
  @OptionalMagicValue var one: Twig?
  @OptionalMagicValue var list: [Twig]?
  @OptionalMagicValue var set: MagicalSet<Twig>?
  @OptionalMagicValue var named: [String: Twig]?
  @OptionalMagicValue var asset: MagicAsset<String>?
  @OptionalMagicValue var lazyOne: AsyncMagical<Twig>?
  @OptionalMagicValue var lazyList: AsyncMagical<[Twig]>?
  @OptionalMagicValue var lazySet: AsyncMagical<MagicalSet<Twig>>?
  @OptionalMagicValue var lazyNamed: AsyncMagical<[String: Twig]>?
  @OptionalMagicValue var lazyAsset: AsyncMagical<MagicAsset<String>>?
  init() {}

  /// The names of the optional properties that aren't nil, except lazy collections.
  var nonNilProperties: [String] {
    let all: [(String, Any?)] = [
      ("one", one), ("list", list), ("set", set), ("named", named), ("asset", asset),
      ("lazyOne", lazyOne), ("lazyAsset", lazyAsset),
    ]
    return all.filter { $0.1 != nil }.map(\.0)
  }
}

@Suite(.everyEngine) struct UnsetOptionalTests {
  @Test func `an object with unset optional properties is saved with nil`() throws {
    let magic = try MagicData.fresh()
    let branch = Bough()
    #expect(branch.nonNilProperties == [])
    try magic.update(branch)
    #expect(branch.nonNilProperties == [])
    branch.text = "again"
    try magic.update(branch)
    let fetched = try magic.object(of: Bough.self, primary: branch.id)
    #expect(fetched.text == "again")
    #expect(fetched.nonNilProperties == [])
    // The fetch doesn't read lazy collections, so they may be empty instead of nil.
    #expect(try fetched.lazyList?.get().count ?? 0 == 0)
    #expect(try fetched.lazySet?.count() ?? 0 == 0)
    #expect(try fetched.lazyNamed?.get().count ?? 0 == 0)
  }

  @Test func `optional properties can be set after a save without them`() async throws {
    let magic = try await MagicData.fresh()
    let branch = Bough()
    try await magic.update(branch)
    let fetched = try await magic.object(of: Bough.self, primary: branch.id)
    for object in [branch, fetched] {
      (object.one, object.list) = (Twig("one"), [Twig("list")])
      (object.set, object.named) = (MagicalSet([Twig("set")]), ["key": Twig("named")])
      (object.asset, object.lazyOne) = (
        MagicAsset(value: "asset"), AsyncMagical(value: Twig("lazy"))
      )
      object.lazyList = AsyncMagical(value: [Twig("list")])
      object.lazyAsset = AsyncMagical(value: MagicAsset(value: "lazy"))
      try await magic.update(object)
      let result = try await magic.object(of: Bough.self, primary: branch.id)
      #expect(result.nonNilProperties.count == 7)
      #expect(result.list?.map(\.text) == ["list"])
      #expect(try await result.asset?.get() == "asset")
      #expect(try await result.lazyList?.get().map(\.text) == ["list"])
      (object.one, object.list, object.set, object.named) = (nil, nil, nil, nil)
      (object.asset, object.lazyOne, object.lazyList, object.lazyAsset) = (nil, nil, nil, nil)
      try await magic.update(object)
      #expect(object.nonNilProperties == [])
      #expect(try await magic.object(of: Bough.self, primary: branch.id).nonNilProperties == [])
    }
  }

  @Test func `an optional lazy value without content is saved as nil`() throws {
    let magic = try MagicData.fresh()
    let branch = Bough()
    (branch.lazyOne, branch.lazyList) = (AsyncMagical(), AsyncMagical())
    try magic.update(branch)
    let fetched = try magic.object(of: Bough.self, primary: branch.id)
    #expect(fetched.lazyOne == nil)
    #expect(try fetched.lazyList?.get().count ?? 0 == 0)
  }
}
