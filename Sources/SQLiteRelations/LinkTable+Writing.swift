public import SQLiteCore

extension Connection {
  /// Makes an owner's list hold just `targets`, in that order.
  ///
  /// What both have in common at the beginning and at the end is left alone, so that an insertion
  /// writes only what it inserts.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n*) reads; as many writes as links differ, all of them if the gap between two
  ///   positions is used up.
  public func setList(_ table: LinkTable, of owner: Int64, to targets: [Int64]) throws {
    let present = try links(table, of: [owner])
    let change = ListChange(from: present, to: targets)
    for position in change.removed { try removeLink(table, owner, .integer(position)) }
    for (position, target) in change.inserted {
      try insertLink(table, owner, .integer(position), target)
    }
  }

  /// Makes an owner's set hold just `targets`.
  ///
  /// - Parameters:
  ///   - table: Links in a set.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n*) reads; as many writes as links differ.
  public func setSet(_ table: LinkTable, of owner: Int64, to targets: Set<Int64>) throws {
    let present = Set(try links(table, of: [owner]).map(\.target))
    for target in present.subtracting(targets).sorted() {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND target = \(target)")
    }
    for target in targets.subtracting(present).sorted() {
      try executeChange(
        "INSERT INTO \(identifier: table.name) (owner, target) VALUES (\(owner), \(target))")
    }
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
  ) throws {
    var missing = targets
    for link in try links(table, of: [owner]) {
      if targets[link.place] == link.target {
        missing[link.place] = nil
      } else {
        try removeLink(table, owner, link.place)
      }
    }
    for (key, target) in missing { try insertLink(table, owner, key, target) }
  }

  private func removeLink(_ table: LinkTable, _ owner: Int64, _ place: Value) throws(SQLiteError) {
    guard let column = table.place else { return }
    try executeChange(
      "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND \(identifier: column) = \(place)"
    )
  }

  private func insertLink(
    _ table: LinkTable, _ owner: Int64, _ place: Value, _ target: Int64
  ) throws(SQLiteError) {
    guard let column = table.place else { return }
    try executeChange(
      "INSERT INTO \(identifier: table.name) (owner, \(identifier: column), target) VALUES (\(owner), \(place), \(target))"
    )
  }
}
