import SQLiteCore
import SQLiteRelations

/// A change of a lazy collection that is not saved yet.
struct LazyEdit: Sendable {
  /// The running number of the change.
  let number: Int
  let change: LinkEdit<LiveValue>
}

/// What is known of the links of a lazy collection.
package struct LazyLinks: Sendable {
  let store: StoreIdentity
  let owner: Int64
  let links: LinkTargets

  /// The links, if they are those of an object in a store.
  func links(of owner: Int64, in store: StoreIdentity) -> LinkTargets? {
    self.owner == owner && self.store == store ? links : nil
  }
}

/// What is known of a lazy value, as of one moment.
package struct LazyState: Sendable {
  enum Content: Sendable {
    /// Nothing.
    case unset
    /// Where it is.
    case stored(LazySource)
    /// What was decoded and not resolved yet.
    case decoded(RelationKeys)
    /// What was set.
    case set(LiveValue)
  }

  var content: Content
  /// Changes of the content since it was set or, if it is in the store, saved.
  var edits: [LazyEdit] = []
  /// How often the value was set or changed.
  var number = 0
  /// How often it had been when it was saved last.
  var saved = 0
  /// What a fetch has shown of the links, or what was saved of them: what a value that is set is compared
  /// with.
  var base: LazyLinks?

  init(_ content: Content, number: Int = 0) {
    self.content = content
    self.number = number
  }

  /// The value that was set, or nil.
  var live: LiveValue? {
    if case .set(let live) = content { live } else { nil }
  }

  /// Where the value is, or nil if it was set.
  var source: LazySource? {
    if case .stored(let source) = content { source } else { nil }
  }

  /// What was decoded, if it was not resolved yet.
  var keys: RelationKeys? {
    if case .decoded(let keys) = content { keys } else { nil }
  }

  /// Says whether something was set or changed since the value was saved.
  var isChanged: Bool { number > saved }

  /// The changes of what is in the store.
  var changes: [LinkEdit<LiveValue>] { edits.map(\.change) }

  /// What may lead to other objects.
  var held: [CellContent.Form] {
    var held: [CellContent.Form] = live.map { [.live($0)] } ?? []
    for edit in edits {
      switch edit.change {
      case .add(let targets, _): held += targets.map { .live($0) }
      case .put(let target, _), .remove(let target): held.append(.live(target))
      case .removeKey, .removeAll: break
      }
    }
    return held
  }
}

extension LazyState {
  /// Notes a value.
  mutating func set(_ live: LiveValue) {
    content = .set(live)
    edits = []
    number += 1
  }

  /// Notes a change of a collection.
  mutating func change(_ change: LinkEdit<LiveValue>) {
    number += 1
    edits.append(LazyEdit(number: number, change: change))
  }

  /// Notes that the value was saved as it was in a state.
  ///
  /// - Parameter base: The links that were saved, if they are known.
  mutating func settle(_ state: LazyState, base: LazyLinks?) {
    saved = max(saved, state.number)
    if source != nil { edits.removeAll { $0.number <= saved } }
    if let base { self.base = base }
  }

  /// Notes that the transaction was undone in which the value was saved as it was in a state.
  mutating func unsettle(_ state: LazyState) {
    saved = min(saved, state.saved)
    base = state.base
    guard source != nil else { return }
    let back = state.edits.filter { $0.number > saved }
    edits = back + edits.filter { $0.number > back.last?.number ?? saved }
  }

  /// The state with changes of a value that was set applied to it.
  func folded() throws -> LazyState {
    guard !edits.isEmpty, case .set(let live) = content,
      let collection = live.value as? any MagicCollection
    else { return self }
    var folded = self
    folded.content = .set(LiveValue(try collection.applying(changes, in: nil)))
    folded.edits = []
    return folded
  }
}

extension MagicCollection {
  /// How the links are arranged.
  static var arrangement: LinkTable.Arrangement {
    if case .links(let arrangement, _) = magicRole.kind { arrangement.form } else { .list }
  }

  /// The collection after changes.
  ///
  /// - Parameter store: The store by whose z_index objects are told apart, or nil for the one that they
  ///   were saved in last.
  func applying(_ changes: [LinkEdit<LiveValue>], in store: StoreIdentity?) throws -> Self {
    guard !changes.isEmpty else { return self }
    var links = try magicLinks
    try MagicLink.apply(changes, to: &links, Self.arrangement, in: store)
    return try Self(magicLinks: links)
  }
}

extension PropertyRole.LinkArrangement {
  /// The same for a link table.
  var form: LinkTable.Arrangement {
    switch self {
    case .list: .list
    case .set: .set
    case .dictionary: .dictionary
    }
  }
}

extension MagicLink: LinkItem {
  func identity(_ store: StoreIdentity?) -> MagicIdentity { MagicIdentity(object, in: store) }

  static func identity(of target: LiveValue, _ store: StoreIdentity?) -> MagicIdentity {
    MagicIdentity(target, in: store)
  }

  static func make(_ place: Value, _ target: LiveValue) throws -> MagicLink {
    guard let object = target.value as? Object else {
      throw MagicError.notSaved(type: "\(Object.self)")
    }
    return MagicLink(place, object)
  }
}

/// A link of a lazy collection: one that is in the store, or one that was added since.
enum LazyItem: LinkItem, Sendable {
  case stored(Link, StoreIdentity)
  case added(Value, LiveValue)

  var place: Value {
    switch self {
    case .stored(let link, _): link.place
    case .added(let place, _): place
    }
  }

  func identity(_ store: StoreIdentity?) -> MagicIdentity {
    switch self {
    case .stored(let link, let store): .saved(store: store.uuid, zIndex: link.target)
    case .added(_, let target): MagicIdentity(target, in: store)
    }
  }

  static func identity(of target: LiveValue, _ store: StoreIdentity?) -> MagicIdentity {
    MagicIdentity(target, in: store)
  }

  static func make(_ place: Value, _ target: LiveValue) -> LazyItem { .added(place, target) }

  /// The link in the store, or nil.
  var link: Link? {
    if case .stored(let link, _) = self { link } else { nil }
  }
}

extension MagicIdentity {
  /// Looks at an object as one of a store, if it is there.
  init<Object: MagicObject>(_ object: Object, in store: StoreIdentity?) {
    if let store, let zIndex = object.zIndex(in: store) {
      self = .saved(store: store.uuid, zIndex: zIndex)
    } else {
      self.init(object)
    }
  }

  init(_ live: LiveValue, in store: StoreIdentity?) {
    if let object = live.value as? any MagicObject {
      self.init(object, in: store)
    } else {
      self = .none
    }
  }
}
