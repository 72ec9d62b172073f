import SQLiteCore
import SQLiteRelations

/// The targets of the links of one property of one object.
///
/// For a fetched object, these are slices of the arrays of the fetch, not copies.
struct LinkTargets: Sendable {
  /// The z_index of each target, in the order of the links.
  let targets: ArraySlice<Int64>
  /// The keys of a dictionary, empty for other collections.
  let keys: ArraySlice<Value>

  static var none: LinkTargets { LinkTargets(targets: [], keys: []) }

  init(targets: ArraySlice<Int64>, keys: ArraySlice<Value>) {
    self.targets = targets
    self.keys = keys
  }

  /// Creates the targets of links, with their keys if the links form a dictionary.
  init(_ links: [(key: Value, target: Int64)], _ arrangement: LinkTable.Arrangement) {
    targets = links.map(\.target)[...]
    keys = arrangement == .dictionary ? links.map(\.key)[...] : []
  }

  func map<Result>(
    _ body: (_ key: Value, _ target: Int64) throws -> Result
  ) rethrows -> [Result] {
    guard !keys.isEmpty else { return try targets.map { try body(.null, $0) } }
    return try zip(keys, targets).map(body)
  }

  func forEach(_ body: (_ key: Value, _ target: Int64) throws -> Void) rethrows {
    if keys.isEmpty {
      for target in targets { try body(.null, target) }
    } else {
      for (key, target) in zip(keys, targets) { try body(key, target) }
    }
  }

  /// The target of each key of a dictionary.
  var byKey: [Value: Int64] { Dictionary(zip(keys, targets), uniquingKeysWith: { $1 }) }

  /// Returns whether these links and `other` are the same. In a list, the order must be the same
  /// too.
  func isSame(as other: LinkTargets, _ arrangement: LinkTable.Arrangement) -> Bool {
    switch arrangement {
    case .list: targets == other.targets
    case .set: Set(targets) == Set(other.targets)
    case .dictionary: byKey == other.byKey
    }
  }
}

/// The links of a property as they were last saved.
struct KnownLinks: Sendable {
  let slot: Int
  let links: LinkTargets
}
