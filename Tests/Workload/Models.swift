package import MagicData

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A record with content that follows from its key and version.
package struct Note: Record, Equatable {
  package var id: String
  package var version: Int
  package var text: String
  package var tags: [String]
  package var date: Date

  package init(_ id: String, _ version: Int) {
    self.id = id
    self.version = version
    text = String(repeating: "\(id) \(version) ", count: 1 + version % 50)
    tags = (0..<version % 4).map { "tag \($0)" }
    date = Date(timeIntervalSince1970: Double(version) / 8)
  }
}

/// The target of the relations of people.
package struct Tag: MagicObject {
  @PrimaryMagicValue package var id: String
  @MagicValue package var name: String

  package init() {}

  package init(_ id: String) {
    self.id = id
    name = "tag \(id)"
  }
}

/// An object with relations.
package struct Person: MagicObject {
  @PrimaryMagicValue package var id: String
  @MagicValue package var version: Int
  @OptionalMagicValue package var best: Tag?
  @MagicValue package var list: [Tag]
  @MagicValue package var set: MagicalSet<Tag>
  @MagicValue package var byName: [String: Tag]

  package init() {
    version = 0
    list = []
    set = []
    byName = [:]
  }

  // Doesn't call `self.init()`: with Swift 6.3.1, values assigned after that call leak their
  // wrappers.
  package init(_ id: String, _ version: Int) {
    self.id = id
    self.version = version
    list = []
    set = []
    byName = [:]
    change(to: version)
  }

  /// Returns the names of the tags in each relation of a version.
  static func tags(_ version: Int) -> [String] { (0..<version % 4).map { "\((version + $0) % 5)" } }

  package func change(to version: Int) {
    let tags = Person.tags(version).map { Tag($0) }
    self.version = version
    best = tags.first
    list = tags.reversed()
    set = MagicalSet(tags)
    byName = Dictionary(uniqueKeysWithValues: tags.map { ($0.id, $0) })
  }

  /// Whether the relations match the version.
  var isIntact: Bool {
    let expected = Person.tags(version)
    return best?.id == expected.first && list.map(\.id) == expected.reversed()
      && Set(set.map(\.id)) == Set(expected) && set.count == expected.count
      && byName.mapValues(\.id) == Dictionary(uniqueKeysWithValues: expected.map { ($0, $0) })
  }
}

/// An object with an asset.
package struct Document: MagicObject {
  @PrimaryMagicValue package var id: String
  @MagicValue package var version: Int
  @MagicValue package var file: MagicAsset<String>

  package init() {
    version = 0
    file = .init()
  }

  package init(_ id: String, _ version: Int) {
    self.id = id
    self.version = version
    file = .init()
    change(to: version)
  }

  static func content(_ id: String, _ version: Int) -> String {
    String(repeating: "\(id):\(version);", count: 1 + version % 300)
  }

  package func change(to version: Int) {
    self.version = version
    file = MagicAsset(value: Document.content(id, version), pathExtension: "txt")
  }
}

/// An item of a collection. Entries with the same id are equal.
struct Entry: Codable, Hashable, Identifiable {
  let id: String
  let version: Int

  static func == (one: Entry, other: Entry) -> Bool { one.id == other.id }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
