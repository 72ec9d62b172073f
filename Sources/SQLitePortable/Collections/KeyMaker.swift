import SQLiteCore

/// Makes the keys by which equal items are found.
///
/// Equal items must have equal keys. What `==` makes of two items is known to the type alone, and its
/// `hash(into:)` is the one promise about it; an id promises nothing. That hash differs from process to
/// process, so keys hold for one process: a table notes whose keys it has, and the first look-up of another
/// process, or of another type, makes them anew.
struct KeyMaker<Item> {
  /// What a table notes about its keys.
  let kind: String
  let key: (Item) -> Value

  /// The keys of a type, or nil if nothing is promised about its items.
  init?() {
    guard let type = Item.self as? any Hashable.Type else { return nil }
    kind = "hash \(processToken) \(UInt(bitPattern: ObjectIdentifier(Item.self)))"
    key = { item in Self.hash(item, as: type) }
  }

  private static func hash<Same: Hashable>(_ item: Item, as type: Same.Type) -> Value {
    guard let item = item as? Same else { return .null }
    return .integer(Int64(item.hashValue))
  }
}

/// A number that another process hardly has.
private let processToken = UInt64.random(in: 0 ... .max)
