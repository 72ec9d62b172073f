import SQLiteCore
import SQLiteRelations

/// A change of a collection's links.
enum LinkEdit<Target> {
  /// Targets come at a place of a list, or at its end; of a set, each unless it is there.
  case add([Target], at: Int?)
  /// A key of a dictionary leads to a target.
  case put(Target, key: Value)
  /// All links to a target go.
  case remove(Target)
  /// A key of a dictionary goes.
  case removeKey(Value)
  /// All links go that there are.
  case removeAll
}

extension LinkEdit: Sendable where Target: Sendable {}

extension LinkEdit {
  /// The same changes, with what is added at the end one after the other as one.
  static func joined(_ edits: [LinkEdit]) -> [LinkEdit] {
    var joined: [LinkEdit] = []
    var added: [Target] = []
    for edit in edits {
      if case .add(let targets, nil) = edit {
        added += targets
        continue
      }
      if !added.isEmpty { joined.append(.add(added, at: nil)) }
      added = []
      joined.append(edit)
    }
    if !added.isEmpty { joined.append(.add(added, at: nil)) }
    return joined
  }

  /// How many targets changes of a list add, if that is all they do.
  static func addedCount(_ edits: [LinkEdit]) -> Int? {
    var count = 0
    for edit in edits {
      guard case .add(let targets, _) = edit else { return nil }
      count += targets.count
    }
    return count
  }
}

/// Links in some form that changes can be applied to.
protocol LinkItem {
  associatedtype Target
  associatedtype Identity: Hashable

  /// The key in a dictionary.
  var place: Value { get }
  /// What tells the target apart from others.
  func identity(_ store: StoreIdentity?) -> Identity
  /// What tells a target apart from others.
  static func identity(of target: Target, _ store: StoreIdentity?) -> Identity
  /// Makes a link.
  static func make(_ place: Value, _ target: Target) throws -> Self
}

extension LinkItem {
  /// Applies changes to links.
  ///
  /// - Parameters:
  ///   - edits: The changes.
  ///   - items: The links in their order.
  ///   - arrangement: How they are arranged.
  ///   - store: The store by whose z_index objects are told apart, or nil for the one that they were
  ///     saved in last.
  static func apply(
    _ edits: [LinkEdit<Target>], to items: inout [Self],
    _ arrangement: LinkTable.Arrangement, in store: StoreIdentity?
  ) throws {
    for edit in LinkEdit.joined(edits) {
      switch edit {
      case .add(let targets, let place):
        let new = try targets.map { try make(.null, $0) }
        if arrangement == .set {
          insert(new, into: &items, store)
        } else {
          items.insert(
            contentsOf: new, at: place.map { min(max(0, $0), items.count) } ?? items.count)
        }
      case .put(let target, let key):
        let item = try make(key, target)
        if let place = items.firstIndex(where: { $0.place == key }) {
          items[place] = item
        } else {
          items.append(item)
        }
      case .remove(let target):
        let identity = identity(of: target, store)
        items.removeAll { $0.identity(store) == identity }
      case .removeKey(let key): items.removeAll { $0.place == key }
      case .removeAll: items = []
      }
    }
  }

  private static func insert(_ new: [Self], into items: inout [Self], _ store: StoreIdentity?) {
    var places: [Identity: Int] = [:]
    for (place, item) in items.enumerated() { places[item.identity(store)] = place }
    for item in new {
      let identity = item.identity(store)
      if let place = places[identity] {
        items[place] = item
      } else {
        places[identity] = items.count
        items.append(item)
      }
    }
  }
}

/// A link by its target's z_index.
struct StoredItem: LinkItem {
  let place: Value
  let target: Int64

  func identity(_ store: StoreIdentity?) -> Int64 { target }

  static func identity(of target: Int64, _ store: StoreIdentity?) -> Int64 { target }

  static func make(_ place: Value, _ target: Int64) -> StoredItem {
    StoredItem(place: place, target: target)
  }
}

extension LinkTargets {
  /// The links after changes.
  func applying(
    _ edits: [LinkEdit<Int64>], _ arrangement: LinkTable.Arrangement
  ) throws -> LinkTargets {
    guard !edits.isEmpty else { return self }
    var items = map { StoredItem(place: $0, target: $1) }
    try StoredItem.apply(edits, to: &items, arrangement, in: nil)
    return LinkTargets(items.map { ($0.place, $0.target) }, arrangement)
  }
}

extension Connection {
  /// Makes a change of an owner's links, whatever they are now, without reading them.
  func write(_ table: LinkTable, of owner: Int64, _ edit: LinkEdit<Int64>) throws {
    switch (edit, table.arrangement) {
    case (.add(let targets, nil), .list): try appendToList(table, of: owner, targets)
    case (.add(let targets, let place?), .list):
      try insertIntoList(table, of: owner, targets, at: place)
    case (.add(let targets, _), _):
      try changeSet(table, of: owner, from: [], to: Set(targets))
    case (.put(let target, let key), _):
      try changeDictionary(table, of: owner, from: [:], to: [key: target])
    case (.remove(let target), _): try removeLinks(table, of: owner, to: [target])
    case (.removeKey(let key), _):
      try changeDictionary(table, of: owner, from: [key: 0], to: [:])
    case (.removeAll, _): try removeLinks(table, of: owner)
    }
  }
}
