public import SQLiteCore

extension Connection {
  /// Makes an owner's list hold just `targets`, in that order.
  ///
  /// Links that are in both lists, in the same order, are left alone, so that an insertion writes only
  /// what it inserts, and at times a few neighbours that make room for it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ.
  public func setList(_ table: LinkTable, of owner: Int64, to targets: [Int64]) throws(SQLiteError)
  {
    let present = try rows(
      "SELECT position, target FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position",
      as: Int64.self, Int64.self
    ).map { ListChange.Place(position: $0, target: $1) }
    let change = ListChange(from: present, to: targets)
    if !change.removed.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND position IN \(change.removed)"
      )
    }
    guard !change.inserted.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, position, target) VALUES (?, ?, ?)")
    for place in change.inserted { try insert.run(owner, place.position, place.target) }
  }

  /// Makes an owner's set hold just `targets`.
  ///
  /// - Parameters:
  ///   - table: Links in a set.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n*) reads; as many writes as links differ.
  public func setSet(
    _ table: LinkTable, of owner: Int64, to targets: Set<Int64>
  ) throws(SQLiteError) {
    let stored: [Int64] = try rows(
      "SELECT target FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64.self)
    let present = Set(stored)
    let leaving = present.subtracting(targets)
    if !leaving.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND target IN \(leaving)")
    }
    let coming = targets.subtracting(present)
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, target) VALUES (?, ?)")
    // In the order of the table, which is faster than at random.
    for target in coming.sorted() { try insert.run(owner, target) }
  }

  /// Makes an owner's dictionary hold just `targets`.
  ///
  /// - Parameters:
  ///   - table: Links in a dictionary.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets by the keys of the dictionary.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n*) reads; as many writes as links differ.
  public func setDictionary(
    _ table: LinkTable, of owner: Int64, to targets: [Value: Int64]
  ) throws(SQLiteError) {
    var coming = targets
    var leaving: [Value] = []
    for (key, target) in try rows(
      "SELECT key, target FROM \(identifier: table.name) WHERE owner = \(owner)",
      as: Value.self, Int64.self)
    {
      if targets[key] == target { coming[key] = nil } else { leaving.append(key) }
    }
    if !leaving.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND key IN \(leaving)")
    }
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, key, target) VALUES (?, ?, ?)")
    for (key, target) in coming { try insert.run(owner, key, target) }
  }
}
