import SQLiteCore
import SQLiteRelations

/// A property of an object in a store, whose value is left there: the relations of the store are asked for it.
package struct LazySource: Sendable {
  /// The store, with the content that the object is of.
  let content: StoreContent
  /// The type of the object.
  let shape: ObjectShape
  /// The property.
  let slot: Int
  /// The object.
  let zIndex: Int64
}

/// A change of a lazy collection that is not saved yet.
struct LazyEdit: Sendable {
  /// The running number of the change.
  let number: Int
  let change: LinkEdit<_LiveValue>
}

/// The links of a lazy collection as they were when they were last fetched or saved.
package struct LazyLinks: Sendable {
  let store: StoreIdentity
  let owner: Int64
  let links: LinkTargets

  /// The links, if they are those of an object in a store.
  func links(of owner: Int64, in store: StoreIdentity) -> LinkTargets? {
    self.owner == owner && self.store == store ? links : nil
  }
}

/// The state of a lazy value at one moment.
package struct LazyState: Sendable {
  enum Content: Sendable {
    /// Nothing.
    case unset
    /// A value in a store.
    case stored(LazySource)
    /// The keys of a relation that was decoded and not resolved yet.
    case decoded(RelationKeys)
    /// A value that was set.
    case set(_LiveValue)
  }

  var content: Content
  /// Changes of the content since it was set or, if it is in the store, saved.
  var edits: [LazyEdit] = []
  /// The number of times that the value was set or changed.
  var number = 0
  /// That number when the value was saved last.
  var saved = 0
  /// The links as they were last fetched or saved; a value that is set is compared with them.
  var base: LazyLinks?

  init(_ content: Content, number: Int = 0) {
    self.content = content
    self.number = number
  }

  /// The value that was set, or nil.
  var live: _LiveValue? {
    if case .set(let live) = content { live } else { nil }
  }

  /// The source of a value in a store, or nil.
  var source: LazySource? {
    if case .stored(let source) = content { source } else { nil }
  }

  /// The keys of a value that was decoded and not resolved yet, or nil.
  var keys: RelationKeys? {
    if case .decoded(let keys) = content { keys } else { nil }
  }

  /// Whether the value was set or changed since it was saved.
  var isChanged: Bool { number > saved }

  /// The changes of what is in the store.
  var changes: [LinkEdit<_LiveValue>] { edits.map(\.change) }

  /// The values that may lead to other objects.
  var held: [_CellValue.Form] {
    var held: [_CellValue.Form] = live.map { [.live($0)] } ?? []
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
  mutating func set(_ live: _LiveValue) {
    content = .set(live)
    edits = []
    number += 1
  }

  /// Notes a change of a collection.
  mutating func change(_ change: LinkEdit<_LiveValue>) {
    number += 1
    edits.append(LazyEdit(number: number, change: change))
  }

  /// Notes that the value was saved as it was in a state.
  ///
  /// - Parameters:
  ///   - base: The links that were saved, if they are known.
  ///   - left: The relation in the store that takes the place of the value; nil to keep the value.
  mutating func settle(_ state: LazyState, base: LazyLinks?, source left: LazySource?) {
    saved = max(saved, state.number)
    if let left, number == state.number { content = .stored(left) }
    if source != nil { edits.removeAll { $0.number <= saved } }
    if let base { self.base = base }
  }

  /// Notes that the transaction was undone in which the value was saved as it was in a state.
  mutating func unsettle(_ state: LazyState) {
    saved = min(saved, state.saved)
    base = state.base
    guard source != nil else { return }
    if state.live != nil { content = state.content }
    let back = state.edits.filter { $0.number > saved }
    edits = back + edits.filter { $0.number > back.last?.number ?? saved }
  }

  /// The state with changes of a value that was set applied to it.
  func folded() throws -> LazyState {
    guard !edits.isEmpty, case .set(let live) = content,
      let collection = live.value as? any MagicCollection
    else { return self }
    var folded = self
    folded.content = .set(_LiveValue(try collection.applying(changes, in: nil)))
    folded.edits = []
    return folded
  }
}

/// A value that is fetched on demand.
package protocol LazyValue: Codable, Sendable {
  /// The role of the property in its table.
  static var role: _PropertyRole { get }
  /// Makes a value that will be fetched, or of which nothing is left if there is no source.
  init(source: LazySource?)
  /// Makes a value that was decoded.
  init(unresolved keys: RelationKeys)
  /// The state of the value.
  var state: LazyState { get }
  /// The state of the value, with its changes applied to a value that was set.
  func folded() throws -> LazyState
  /// Notes that the value was saved as it was in a state, with some links if it has links. It is left in the store if
  /// there is a source.
  func saved(_ state: LazyState, _ base: LazyLinks?, leftAt source: LazySource?)
  /// Notes that the transaction was undone in which the value was saved as it was in a state.
  func unsaved(_ state: LazyState)
}
