public import MagicData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A record whose content follows from its key and its version.
public struct Note: Record, Equatable {
  public var id: String
  public var version: Int
  public var text: String
  public var tags: [String]
  public var date: Date

  public init(_ id: String, _ version: Int) {
    self.id = id
    self.version = version
    text = String(repeating: "\(id) \(version) ", count: 1 + version % 50)
    tags = (0..<version % 4).map { "tag \($0)" }
    date = Date(timeIntervalSince1970: Double(version) / 8)
  }
}

/// What people lead to.
public struct Tag: MagicObject {
  @PrimaryMagicValue public var id: String
  @MagicValue public var name: String

  public init() {}

  public init(_ id: String) {
    self.id = id
    name = "tag \(id)"
  }
}

/// An object with relations.
public struct Person: MagicObject {
  @PrimaryMagicValue public var id: String
  @MagicValue public var version: Int
  @OptionMagicValue public var best: Tag?
  @MagicValue public var list: [Tag]
  @MagicValue public var set: MagicalSet<Tag>
  @MagicValue public var byName: [String: Tag]

  public init() {
    version = 0
    list = []
    set = []
    byName = [:]
  }

  public init(_ id: String, _ version: Int) {
    self.init()
    self.id = id
    change(to: version)
  }

  /// The names of the tags in each relation of a version.
  static func tags(_ version: Int) -> [String] { (0..<version % 4).map { "\((version + $0) % 5)" } }

  public func change(to version: Int) {
    let tags = Person.tags(version).map { Tag($0) }
    self.version = version
    best = tags.first
    list = tags.reversed()
    set = MagicalSet(tags)
    byName = Dictionary(uniqueKeysWithValues: tags.map { ($0.id, $0) })
  }

  /// Says whether the relations are those of the version.
  var isWhole: Bool {
    let expected = Person.tags(version)
    return best?.id == expected.first && list.map(\.id) == expected.reversed()
      && Set(set.map(\.id)) == Set(expected) && set.count == expected.count
      && byName.mapValues(\.id) == Dictionary(uniqueKeysWithValues: expected.map { ($0, $0) })
  }
}

/// An object with a file.
public struct Document: MagicObject {
  @PrimaryMagicValue public var id: String
  @MagicValue public var version: Int
  @MagicValue public var file: MagicAsset<String>

  public init() {
    version = 0
    file = .init()
  }

  public init(_ id: String, _ version: Int) {
    self.init()
    self.id = id
    change(to: version)
  }

  static func content(_ id: String, _ version: Int) -> String {
    String(repeating: "\(id):\(version);", count: 1 + version % 300)
  }

  public func change(to version: Int) {
    self.version = version
    file = MagicAsset(value: Document.content(id, version), pathExtension: "txt")
  }
}
