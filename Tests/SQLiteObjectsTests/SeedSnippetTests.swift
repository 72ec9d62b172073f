import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// The models of the seed's README, which uses each name several times.
private enum Seed {
  struct TestModel: MagicObject {
    @PrimaryMagicValue var id: String

    @MagicValue var name: String
    @MagicValue var age: Int

    @OptionalMagicValue var school: Data?
    @OptionalMagicValue var petName: String?
    @OptionalMagicValue var hight: Double?

    @OptionalMagicValue var job: Job?

    var customString: String {
      "My ID: \(id), name: \(name)"
    }

    init() {}

    init(name: String) {
      self.name = name
    }
  }

  struct Job: MagicalCodable {
    let title: String
    let salary: Int
  }

  struct AssetModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var asset: MagicAsset<String>

    init() {
      asset = .init()
    }
  }

  struct LazyModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var asset: AsyncMagical<MagicAsset<String>>

    init() {}

    init(_ asset: MagicAsset<String>) {
      self.asset = .init(value: asset)
    }
  }

  struct Sub: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var text: String

    init() {}

    init(_ text: String) {
      self.text = text
    }
  }

  struct OneModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var sub: Sub

    init() {}

    init(_ sub: Sub) {
      self.sub = sub
    }
  }

  struct SetModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var set: MagicalSet<KeylessSub>

    init() {
      set = .init([])
    }
  }

  struct KeylessSub: MagicObject {
    @MagicValue var text: String
    @ReverseMagicValue(\SetModel.$set) var father: AsyncReverseMagicSet<SetModel>

    init() {}

    init(_ text: String) {
      self.text = text
    }
  }

  struct ArrayModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var arrary: [Sub]

    init() {
      arrary = .init([])
    }
  }

  struct LazyArrayModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var array: AsyncMagical<[Sub]>
    @MagicValue var one: AsyncMagical<Sub>
    @OptionalMagicValue var sub: Sub?

    init() {}

    init(_ object: Sub) {
      array = .init(value: [object])
      one = .init(value: object)
    }
  }

  struct DictionaryModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var dict: [String: Sub]

    init() {
      dict = [:]
    }
  }
}

@Suite(.everyEngine) struct SeedSnippetTests {
  let magic: MagicData

  init() async throws { magic = try await MagicData.fresh() }

  @Test(.requires(.files))
  func `stores can be created at every kind of location`() async throws {
    let folder = try TestFolder()
    unsafe setenv("XDG_DATA_HOME", folder.path, 1)
    defer { unsafe unsetenv("XDG_DATA_HOME") }
    let standard = try await MagicData()
    #expect(standard.database.path?.hasPrefix(folder.path) == true)
    #expect(standard.database.path?.hasSuffix("/default.sqlite3") == true)
    let custom = try await MagicData(path: URL(fileURLWithPath: "\(folder.path)/a b").path)
    #expect(custom.database.path == "\(folder.path)/a b/default.sqlite3")
    let byURL = try await MagicData(path: URL(fileURLWithPath: "\(folder.path)/é.sqlite3"))
    #expect(byURL.database.path == "\(folder.path)/é.sqlite3")
    let temporary = try await MagicData.fresh(.temporary)
    #expect(temporary.database.path != nil)
    let memory = try await MagicData.fresh()
    #expect(memory.database.path == nil)
  }

  @Test(.requires(.files))
  func `a temporary store deletes its files`() async throws {
    var magic: MagicData? = try await MagicData.fresh(.temporary)
    let path = try #require(magic?.database.path)
    #expect(FileManager.default.fileExists(atPath: path))
    try await magic?.database.close()
    magic = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `copies share values`() {
    let test = Seed.TestModel(name: "hi")
    let test2 = test
    test2.name = "hello"
    #expect(test.name == "hello")
    #expect(test.customString == "My ID: \(test.id), name: hello")
    #expect(test.petName == nil)
  }

  @Test func `a fetched object is a separate object`() async throws {
    let test = Seed.TestModel(name: "hi")
    test.age = 3
    let id = test.id
    try await magic.update(test)
    let test2 = try await magic.object(of: Seed.TestModel.self).where { $0.id == id }[0]
    test2.name = "hello"
    #expect(test.name == "hi")
  }

  @Test func `a Codable value is stored`() async throws {
    let test = Seed.TestModel(name: "hi")
    test.age = 3
    test.school = Data([0, 1, 255])
    test.hight = 1.75
    test.job = Seed.Job(title: "Cook", salary: 7)
    try await magic.update(test)
    let found = try await magic.object(of: Seed.TestModel.self, primary: test.id)
    #expect(found.job?.title == "Cook")
    #expect(found.school == Data([0, 1, 255]))
    #expect(found.hight == 1.75)
  }

  @Test func `an asset is stored and fetched`() async throws {
    let instance = Seed.AssetModel()
    try await magic.update(instance)
    instance.asset = .init(value: "Hello")
    try await magic.update(instance)
    let found = try await magic.object(of: Seed.AssetModel.self, primary: instance.uuid)
    #expect(try await found.asset.get() == "Hello")
  }

  @Test func `a lazy asset is read on demand`() async throws {
    let instance = Seed.LazyModel(.init(value: "Hi"))
    try await magic.update(instance)
    instance.asset.set(.init(value: "Hello"))
    try await magic.update(instance)
    let instanceCopy = try await magic.object(of: Seed.LazyModel.self, primary: instance.uuid)
    let asset = try await instanceCopy.asset.get()
    #expect(try await asset.get() == "Hello")
  }

  @Test func `objects can be saved, removed and looked up`() async throws {
    let test1 = Seed.Sub("1")
    let object = Seed.Sub("2")
    try await magic.update(test1)
    try await magic.update(object)
    #expect(try await magic.object(of: Seed.Sub.self).map(\.text) == ["1", "2"])
    #expect(try await magic.has(of: Seed.Sub.self, primary: test1.uuid))
    try await magic.remove(test1)
    #expect(try await magic.has(of: Seed.Sub.self, primary: test1.uuid) == false)
    await #expect(throws: MagicError.notFound(type: "Sub", primary: "\(test1.uuid)")) {
      try await magic.object(of: Seed.Sub.self, primary: test1.uuid)
    }
    try await magic.removeAll(Seed.Sub.all)
    #expect(try await magic.object(of: Seed.Sub.self).isEmpty)
  }

  @Test func `a to-one relation is saved and fetched`() async throws {
    let model = Seed.OneModel(Seed.Sub("child"))
    try await magic.update(model)
    let found = try await magic.object(of: Seed.OneModel.self, primary: model.uuid)
    #expect(found.sub.text == "child")
  }

  @Test func `a set and its reverse relation follow insertions and removals`() async throws {
    let instance = Seed.SetModel()
    let sub1 = Seed.KeylessSub("1")
    instance.set.insert(sub1)
    instance.set.insert(Seed.KeylessSub("2"))
    try await magic.update(instance)
    let instanceCopy1 = try await magic.object(of: Seed.SetModel.self, primary: instance.uuid)
    #expect(instanceCopy1.set.count == 2)
    var fathers: [UUID] = []
    for try await father in sub1.father { fathers.append(father.uuid) }
    #expect(fathers == [instance.uuid])
    instanceCopy1.set.remove(sub1)
    try await magic.update(instanceCopy1)
    let instanceCopy2 = try await magic.object(of: Seed.SetModel.self, primary: instance.uuid)
    #expect(instanceCopy2.set.map(\.text) == ["2"])
    instanceCopy2.set.removeAll { $0.text == "2" }
    #expect(instanceCopy2.set.isEmpty)
  }

  @Test func `a lazy array can be fetched, streamed and sampled`() async throws {
    let (first, second) = (Seed.Sub("1"), Seed.Sub("2"))
    let instance = Seed.LazyArrayModel(first)
    instance.array.set([first, second])
    try await magic.update(instance)
    let instanceCopy = try await magic.object(of: Seed.LazyArrayModel.self, primary: instance.uuid)
    #expect(try await instanceCopy.one.get().text == "1")
    var res: [Seed.Sub] = []
    for try await item in try instanceCopy.array.stream() {
      res.append(item)
    }
    #expect(res.map(\.text) == ["1", "2"])
    let uuid = try await instance.array.randomValue()?.uuid
    #expect(uuid == first.uuid || uuid == second.uuid)
    #expect(try await instance.array.randomValue(in: 1..<2)?.text == "2")
    #expect(try await instanceCopy.array.randomValue(in: 1..<2)?.text == "2")
    #expect(instanceCopy.sub == nil)
  }

  @Test func `an array and a dictionary of objects are saved and fetched`() async throws {
    let array = Seed.ArrayModel()
    array.arrary = [Seed.Sub("b"), Seed.Sub("a")]
    let dictionary = Seed.DictionaryModel()
    dictionary.dict["x"] = array.arrary[0]
    try await magic.update(array)
    try await magic.update(dictionary)
    let found = try await magic.object(of: Seed.ArrayModel.self, primary: array.uuid)
    #expect(found.arrary.map(\.text) == ["b", "a"])
    let other = try await magic.object(of: Seed.DictionaryModel.self, primary: dictionary.uuid)
    #expect(other.dict["x"]?.text == "b")
  }
}
