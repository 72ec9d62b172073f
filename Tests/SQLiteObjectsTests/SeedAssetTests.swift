import Conformance
import Foundation
import MagicData
import Testing

/// Snippets about assets and images from the seeds' READMEs, in addition to ``SeedSnippetTests``.
@Suite(.everyEngine) struct SeedAssetTests {
  /// A stand-in for an image: a type with its own binary form.
  struct Image: AssetConvertible, Equatable {
    let pixels: [UInt8]

    init(_ pixels: [UInt8]) { self.pixels = pixels }

    init(assetData: Data) throws {
      guard assetData.first == 0x89 else { throw CocoaError(.fileReadCorruptFile) }
      pixels = assetData.dropFirst().map(\.self)
    }

    var assetData: Data { Data([0x89] + pixels) }
  }

  struct Job: MagicalCodable, Equatable {
    let title: String
  }

  /// All element types that the MagicData seed lists for `MagicAsset` and `AsyncMagical`.
  struct TestModel: MagicObject {
    @PrimaryMagicValue var uuid: UUID

    @MagicValue var string: MagicAsset<String>
    @MagicValue var data: MagicAsset<Data>
    @MagicValue var codable: MagicAsset<Job>
    @MagicValue var array: MagicAsset<[Job]>
    @MagicValue var set: MagicAsset<Set<Int>>
    @MagicValue var dictionary: MagicAsset<[String: Int]>
    @MagicValue var image: MagicAsset<Image>
    @MagicValue var lazy: AsyncMagical<MagicAsset<[Job]>>

    init() {
      string = .init()
      data = .init()
      codable = .init()
      array = .init()
      set = .init()
      dictionary = .init()
      image = .init()
      lazy = .init(value: .init())
    }
  }

  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  @Test func `every element type that the seed lists is stored in its own asset`() async throws {
    let instance = TestModel()
    instance.string = .init(value: "a")
    instance.data = .init(value: Data([1]))
    instance.codable = .init(value: Job(title: "b"))
    instance.array = .init(value: [Job(title: "c")])
    instance.set = .init(value: [1, 2])
    instance.dictionary = .init(value: ["d": 3])
    instance.image = .init(value: Image([4]))
    instance.lazy.set(.init(value: [Job(title: "e")]))
    try await magic.update(instance)
    let found = try await magic.object(of: TestModel.self, primary: instance.uuid)
    #expect(try await found.string.get() == "a")
    #expect(try await found.data.get() == Data([1]))
    #expect(try await found.codable.get() == Job(title: "b"))
    #expect(try await found.array.get() == [Job(title: "c")])
    #expect(try await found.set.get() == [1, 2])
    #expect(try await found.dictionary.get() == ["d": 3])
    #expect(try await found.image.get() == Image([4]))
    #expect(try await found.lazy.get().get() == [Job(title: "e")])
    #expect(try await magic.assets.records().count == 8)
  }

  @Test func `an image is stored, and its ID is inserted in a table`() async throws {
    let assets = magic.assets
    let image = Image([1, 2, 3])
    try await magic.database.executeChange(
      "CREATE TABLE SampleImageTable (Name TEXT, Image TEXT)")
    let imageID = try await assets.put(image.assetData, extension: "png").id
    try await magic.database.executeChange(
      "INSERT INTO SampleImageTable (Name, Image) VALUES (?, ?)",
      withArgs: ["SampleImageName", imageID])
    let resultSet = try await magic.database.executeQuery("SELECT * FROM SampleImageTable")
    for row in resultSet {
      let id = try #require(row["Image"]?.asString().flatMap { AssetID($0) })
      #expect(try await Image(assetData: Data(assets.bytes(of: id))) == image)
    }
    #expect(resultSet.count == 1)
    #expect(try await magic.database.write { try assets.delete(imageID, in: $0) })
    #expect(try await magic.database.write { try assets.delete(imageID, in: $0) } == false)
    await #expect(throws: AssetError.noAsset(imageID)) { try await assets.bytes(of: imageID) }
  }

  @Test func `a failed insert in the same transaction leaves no image`() throws {
    let assets = magic.assets
    #expect(throws: SQLiteError.self) {
      try magic.database.write { connection in
        let image = try assets.put(Image([1]).assetData, in: connection)
        try connection.executeChange(
          "INSERT INTO SampleImageTable (Name, Image) VALUES (?, ?)",
          withArgs: ["SampleImageName", image.id])
      }
    }
    #expect(try assets.records() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: assets.path + "/files") == [])
  }

  @Test(arguments: [
    "../SwiftData.sqlite", "a98af5ca-7700-4abc-97fb-60737a7b6583", "", "/etc/passwd",
  ])
  func `a string that isn't an asset ID is rejected`(text: String) {
    #expect(AssetID(text) == nil)
  }
}
