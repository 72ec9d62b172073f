import SQLiteCore
import SQLiteRelations

/// What the links of one property of one object lead to.
///
/// Of a fetched object these are parts of what the fetch has read, and not copies of it.
struct LinkTargets: Sendable {
  /// The z_index of each target, in the order of the links.
  let targets: ArraySlice<Int64>
  /// The keys of a dictionary; none otherwise.
  let keys: ArraySlice<Value>

  static var none: LinkTargets { LinkTargets(targets: [], keys: []) }

  init(targets: ArraySlice<Int64>, keys: ArraySlice<Value>) {
    self.targets = targets
    self.keys = keys
  }

  /// Takes links over.
  init(_ links: [(place: Value, target: Int64)], _ arrangement: LinkTable.Arrangement) {
    targets = links.map(\.target)[...]
    keys = arrangement == .dictionary ? links.map(\.place)[...] : []
  }

  func map<Result>(
    _ body: (_ place: Value, _ target: Int64) throws -> Result
  ) rethrows -> [Result] {
    guard !keys.isEmpty else { return try targets.map { try body(.null, $0) } }
    return try zip(keys, targets).map(body)
  }

  /// The targets by the keys of a dictionary.
  var byKey: [Value: Int64] { Dictionary(zip(keys, targets), uniquingKeysWith: { $1 }) }

  /// Says whether both are the same links: of a list, in the same order.
  func isSame(as other: LinkTargets, _ arrangement: LinkTable.Arrangement) -> Bool {
    switch arrangement {
    case .list: targets == other.targets
    case .set: Set(targets) == Set(other.targets)
    case .dictionary: byKey == other.byKey
    }
  }
}

/// What an object knows of the links of one of its properties.
struct KnownLinks: Sendable {
  let slot: Int
  let links: LinkTargets
}

extension Connection {
  /// Writes what an object's links lead to.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - base: What the object knew of the links before it was changed: the difference is written. Nil to
  ///     replace them all.
  ///   - links: What they shall lead to; of a dictionary each key once.
  func write(
    _ table: LinkTable, of owner: Int64, from base: LinkTargets?, to links: LinkTargets
  ) throws {
    let targets = links.targets
    guard let base else {
      switch table.arrangement {
      case .list: try setList(table, of: owner, to: Array(targets))
      case .set: try setSet(table, of: owner, to: Set(targets))
      case .dictionary: try setDictionary(table, of: owner, to: links.byKey)
      }
      return
    }
    switch table.arrangement {
    case .list:
      try changeList(table, of: owner, from: Array(base.targets), to: Array(targets))
    case .set:
      try changeSet(table, of: owner, from: Set(base.targets), to: Set(targets))
    case .dictionary:
      try changeDictionary(table, of: owner, from: base.byKey, to: links.byKey)
    }
  }
}
