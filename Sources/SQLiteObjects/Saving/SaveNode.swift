import SQLiteCore
import SQLiteMapping

/// An object that a relation leads to.
enum SaveTarget: Sendable {
  /// One that is saved too, by its place in the request.
  case node(Int)
  /// One that is in the store and unchanged.
  case stored(Int64)
}

/// What is to be written of one property.
enum SaveValue: Sendable {
  case value(Value)
  case object(SaveTarget)
  /// Links; those that were not set are written only if the object is new.
  case links([(place: Value, target: SaveTarget)], isSet: Bool)
  /// What a lazy value of another object leads to.
  case copy(LazySource)
  /// An asset that was set.
  case asset(PendingAsset)
  /// An asset that is in a store: it stays as it is, unless the object is a new one there.
  case kept(AssetHandle)
  /// What the store has stays as it is.
  case untouched
  /// Nothing was ever set.
  case missing

  /// Says whether it is what some object has in the store.
  var isCopy: Bool {
    switch self {
    case .copy, .asset(.stored): true
    case .value, .object, .links, .asset, .kept, .untouched, .missing: false
    }
  }
}

/// Changes of a lazy collection that was left in the store.
struct SaveEdits: Sendable {
  let slot: Int
  /// The collection, which knows what was saved meanwhile.
  let value: any LazyValue
  let edits: [(number: Int, change: LinkEdit<EditTarget>)]
}

/// An object that a lazy collection comes or ceases to lead to.
enum EditTarget: Sendable {
  /// One that is saved, too.
  case saved(SaveTarget)
  /// One that is not, and may not be in the store.
  case known(ObjectStorage)
}

/// One object to be saved, as values that may travel.
struct SaveNode: Sendable {
  let plan: ObjectPlan
  let storage: ObjectStorage
  /// What the object was fetched with, if it leads to others.
  var context: FetchContext?
  /// What the values were taken from.
  let snapshot: ObjectStorage.Snapshot
  /// What is to be written if all properties are plain values, in stored form.
  var forms: [CellContent.Form] = []
  /// What is to be written else, one for each property.
  var values: [SaveValue] = []
  /// Lazy values that may have been set or changed, which the object does not notice; also those that belong
  /// to another object.
  var lazy: [(slot: Int, value: any LazyValue, state: LazyState, isOwn: Bool)] = []
  /// Changes of lazy collections that were left in the store.
  var edits: [SaveEdits] = []
  /// Properties that were set to what properties of objects have in the store.
  var copies: [Int] = []
  /// What the columns must hold for the object to be saved, if it must be unchanged.
  var expected: [(slot: Int, value: Value)]?

  /// Adds what is to be written of the next property.
  mutating func add(_ value: SaveValue, _ slot: Int) {
    if value.isCopy { copies.append(slot) }
    values.append(value)
  }

  func isChanged(_ slot: Int) -> Bool {
    snapshot.isChanged(slot) || lazy.contains { $0.slot == slot && $0.state.isChanged }
  }

  /// The key that the object brings with it: its Int primary value.
  var key: Int64? {
    guard let counting = plan.counting, case .integer(let key)? = value(counting) else {
      return nil
    }
    return key
  }

  /// The stored form of a property, if it is a plain value; NULL for one that is not there and optional.
  func value(_ slot: Int) -> Value? {
    guard plan.isPlain else {
      if case .value(let value) = values[slot] { return value }
      return nil
    }
    switch forms[slot] {
    case .stored(let value): return value
    case .data(let data): return data.databaseValue
    case .unset where plan.properties[slot].role.isOptional: return .null
    case .unset, .live, .reference, .links, .targets, .lazy: return nil
    }
  }

  /// The objects that the columns of this one refer to.
  var references: [Int] {
    values.compactMap { value in
      if case .object(.node(let target)) = value { target } else { nil }
    }
  }
}
