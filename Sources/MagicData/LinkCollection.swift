import SQLiteCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A collection of objects that is stored as links.
package protocol LinkCollection<Target>: Codable, MagicRelation {
  /// How the links are arranged.
  static var arrangement: PropertyRole.LinkArrangement { get }

  /// Makes the collection of what links lead to, in their order.
  init(links: [(place: Value, object: Target)]) throws

  /// The objects with the places that their links get, NULL where the arrangement says it all.
  var linked: [(place: Value, object: Target)] { get throws }
}

extension LinkCollection {
  static var element: any MagicObject.Type { Target.self }
}

extension Array: LinkCollection where Element: MagicObject {
  package static var arrangement: PropertyRole.LinkArrangement { .list }

  package init(links: [(place: Value, object: Element)]) {
    self = links.map(\.object)
  }

  package var linked: [(place: Value, object: Element)] { map { (.null, $0) } }
}

extension Dictionary: LinkCollection where Key: Codable, Value: MagicObject {
  package static var arrangement: PropertyRole.LinkArrangement { .dictionary }

  package init(links: [(place: SQLiteCore.Value, object: Value)]) throws {
    self.init(minimumCapacity: links.count)
    for link in links { self[try ValueCoding.value(Key.self, from: link.place)] = link.object }
  }

  package var linked: [(place: SQLiteCore.Value, object: Value)] {
    get throws { try map { (try ValueCoding.stored($0.key), $0.value) } }
  }
}

extension MagicalSet: LinkCollection {
  package static var arrangement: PropertyRole.LinkArrangement { .set }

  package init(links: [(place: Value, object: Element)]) {
    self.init(links.map(\.object))
  }

  package var linked: [(place: Value, object: Element)] { elements.map { (.null, $0) } }
}
