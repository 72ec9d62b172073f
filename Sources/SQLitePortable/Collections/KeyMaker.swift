#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import SQLiteCore

/// Makes the keys by which equal items are found.
///
/// Equal items must have equal keys. What `==` makes of two items is known to the type alone, and its
/// `hash(into:)` is the one promise about it. That hash differs from process to process, so such keys
/// hold for one process: a table notes whose keys it has, and the first look-up of another process makes
/// them anew. Ids that are integers or UUIDs are keys that last.
struct KeyMaker<Item> {
  /// What a table notes about its keys.
  let kind: String
  let key: (Item) -> Value

  /// A name of this process's hashes.
  private static var hashKind: String { "hash \(processToken)" }

  /// The keys of a type, or nil if nothing is promised about its items.
  init?() {
    if let type = Item.self as? any Identifiable.Type, !Self.isIdentifiedByPlace(type) {
      self.init(identifiable: type)
    } else if let type = Item.self as? any Hashable.Type {
      self.init(hashable: type)
    } else {
      return nil
    }
  }

  /// Whether the id is where an object lies in memory, as the standard library has it for classes that
  /// name no other: nothing that is decoded has it.
  private static func isIdentifiedByPlace<Same: Identifiable>(_ type: Same.Type) -> Bool {
    Same.ID.self == ObjectIdentifier.self
  }

  private init(hashable type: (some Hashable).Type) {
    kind = Self.hashKind
    key = { item in Self.hash(item, as: type) }
  }

  private init(identifiable type: (some Identifiable).Type) {
    if let key = Self.lastingKey(type) {
      kind = "id"
      self.key = key
    } else {
      kind = Self.hashKind
      key = { item in Self.hashOfID(item, as: type) }
    }
  }

  private static func hash<Same: Hashable>(_ item: Item, as type: Same.Type) -> Value {
    guard let item = item as? Same else { return .null }
    return .integer(Int64(item.hashValue))
  }

  private static func hashOfID<Same: Identifiable>(_ item: Item, as type: Same.Type) -> Value {
    guard let item = item as? Same else { return .null }
    return .integer(Int64(item.id.hashValue))
  }

  private static func lastingKey<Same: Identifiable>(_ type: Same.Type) -> ((Item) -> Value)? {
    if Same.ID.self == Int.self || Same.ID.self == Int64.self || Same.ID.self == Int32.self
      || Same.ID.self == UInt32.self
    {
      return { item in
        switch (item as? Same)?.id {
        case let id as Int: .integer(Int64(id))
        case let id as Int64: .integer(id)
        case let id as Int32: .integer(Int64(id))
        case let id as UInt32: .integer(Int64(id))
        default: .null
        }
      }
    }
    if Same.ID.self == UUID.self {
      return { item in ((item as? Same)?.id as? UUID).map { .text($0.uuidString) } ?? .null }
    }
    return nil
  }
}

/// A number that another process hardly has.
private let processToken = UInt64.random(in: 0 ... .max)
