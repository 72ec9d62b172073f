import SQLiteCore
import SQLiteRelations

/// A change of a collection's links.
indirect enum LinkEdit<Target> {
  /// Adds targets at an index of a list, or at its end if the index is nil. In a set, the index is
  /// ignored, and a target replaces the one with the same identity.
  case add([Target], at: Int?)
  /// Sets the target for a key of a dictionary.
  case put(Target, key: Value)
  /// Removes all links to a target.
  case remove(Target)
  /// Removes a key of a dictionary together with its link.
  case removeKey(Value)
  /// Removes all links.
  case removeAll
}

extension LinkEdit: Sendable where Target: Sendable {}

extension LinkEdit {
  /// Returns the same changes, but joins consecutive additions to the end of the list into one.
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

  /// Returns the number of targets that the changes add, or nil if at least one change isn't an
  /// addition.
  static func addedCount(_ edits: [LinkEdit]) -> Int? {
    var count = 0
    for edit in edits {
      guard case .add(let targets, _) = edit else { return nil }
      count += targets.count
    }
    return count
  }
}

/// A link, in one of the representations to which changes can be applied.
protocol LinkItem {
  associatedtype Target
  associatedtype Identity: Hashable

  /// The key in a dictionary. Other collections don't use it.
  var key: Value { get }
  /// Returns the identity of the link's target. If the target isn't in `store`, or `store` is nil,
  /// it is the identity from the target's last save or fetch in any store.
  func identity(_ store: StoreIdentity?) -> Identity
  /// Returns the identity of a target. If the target isn't in `store`, or `store` is nil, it is the
  /// identity from the target's last save or fetch in any store.
  static func identity(of target: Target, _ store: StoreIdentity?) -> Identity
  /// Creates a link to `target`. `key` is the key in a dictionary, or NULL for any other
  /// collection.
  static func make(_ key: Value, _ target: Target) throws -> Self
}

// Not specialized: the compiler would generate 4 KB of code for each kind of link.
extension LinkItem {
  /// Applies changes to links.
  ///
  /// - Parameters:
  ///   - edits: The changes.
  ///   - items: The links in their order.
  ///   - arrangement: The arrangement of the links.
  ///   - store: The store in which objects are compared by z_index, or nil to compare each by its
  ///     z_index in the store of its last save or fetch.
  @_semantics("optimize.sil.specialize.generic.never")
  static func apply(
    _ edits: [LinkEdit<Target>], to items: inout [Self],
    _ arrangement: LinkTable.Arrangement, in store: StoreIdentity?
  ) throws {
    for edit in LinkEdit.joined(edits) {
      switch edit {
      case .add(let targets, let index):
        let new = try targets.map { try make(.null, $0) }
        if arrangement == .set {
          insert(new, into: &items, store)
        } else {
          items.insert(
            contentsOf: new, at: index.map { min(max(0, $0), items.count) } ?? items.count)
        }
      case .put(let target, let key):
        let item = try make(key, target)
        if let index = items.firstIndex(where: { $0.key == key }) {
          items[index] = item
        } else {
          items.append(item)
        }
      case .remove(let target):
        let identity = identity(of: target, store)
        items.removeAll { $0.identity(store) == identity }
      case .removeKey(let key): items.removeAll { $0.key == key }
      case .removeAll: items = []
      }
    }
  }

  @_semantics("optimize.sil.specialize.generic.never")
  private static func insert(_ new: [Self], into items: inout [Self], _ store: StoreIdentity?) {
    var indexes: [Identity: Int] = [:]
    for (index, item) in items.enumerated() { indexes[item.identity(store)] = index }
    for item in new {
      let identity = item.identity(store)
      if let index = indexes[identity] {
        items[index] = item
      } else {
        indexes[identity] = items.count
        items.append(item)
      }
    }
  }
}

/// A link with the z_index of its target.
struct StoredItem: LinkItem {
  let key: Value
  let target: Int64

  func identity(_ store: StoreIdentity?) -> Int64 { target }

  static func identity(of target: Int64, _ store: StoreIdentity?) -> Int64 { target }

  static func make(_ key: Value, _ target: Int64) -> StoredItem {
    StoredItem(key: key, target: target)
  }
}

extension LinkTargets {
  /// Returns the links after applying changes.
  func applying(
    _ edits: [LinkEdit<Int64>], _ arrangement: LinkTable.Arrangement
  ) throws -> LinkTargets {
    guard !edits.isEmpty else { return self }
    var items = map { StoredItem(key: $0, target: $1) }
    try StoredItem.apply(edits, to: &items, arrangement, in: nil)
    return LinkTargets(items.map { ($0.key, $0.target) }, arrangement)
  }
}

extension MagicCollection {
  /// The arrangement in which a link table stores the links of this type of collection.
  static var arrangement: LinkTable.Arrangement {
    if case .links(let arrangement, _) = magicRole.kind { arrangement.form } else { .list }
  }

  /// Returns the collection after applying changes.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - store: The store in which objects are compared by z_index, or nil to compare each by its
  ///     z_index in the store of its last save or fetch.
  func applying(_ changes: [LinkEdit<_LiveValue>], in store: StoreIdentity?) throws -> Self {
    guard !changes.isEmpty else { return self }
    var links = try magicLinks
    try _MagicLink.apply(changes, to: &links, Self.arrangement, in: store)
    return try Self(magicLinks: links)
  }
}

extension _MagicLink: LinkItem {
  func identity(_ store: StoreIdentity?) -> MagicIdentity { MagicIdentity(object, in: store) }

  static func identity(of target: _LiveValue, _ store: StoreIdentity?) -> MagicIdentity {
    MagicIdentity(target, in: store)
  }

  static func make(_ key: Value, _ target: _LiveValue) throws -> _MagicLink {
    guard let object = target.value as? Object else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return _MagicLink(key, object)
  }
}

/// A link of a lazy collection: a stored one, or one that was added and not saved yet.
enum LazyItem: LinkItem, Sendable {
  case stored(StoredLink, StoreIdentity)
  case added(Value, _LiveValue)

  var key: Value {
    switch self {
    case .stored(let link, _): link.place
    case .added(let key, _): key
    }
  }

  func identity(_ store: StoreIdentity?) -> MagicIdentity {
    switch self {
    case .stored(let link, let store): .saved(store: store.uuid, zIndex: link.target)
    case .added(_, let target): MagicIdentity(target, in: store)
    }
  }

  static func identity(of target: _LiveValue, _ store: StoreIdentity?) -> MagicIdentity {
    MagicIdentity(target, in: store)
  }

  static func make(_ key: Value, _ target: _LiveValue) -> LazyItem { .added(key, target) }

  /// The stored link, or nil for an added one.
  var link: StoredLink? {
    if case .stored(let link, _) = self { link } else { nil }
  }
}
