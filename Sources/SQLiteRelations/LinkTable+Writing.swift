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
    let present = try places(table, of: owner)
    try write(ListChange(from: present, to: targets), table, owner)
  }

  /// Changes an owner's list as another list was changed, whatever others have done to it meanwhile.
  ///
  /// What is added stays, what is removed goes, and links that nobody has touched are left alone. What is
  /// put into a gap comes behind what others have put there.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after it.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *n*), and as many writes as links differ; only that for what is appended.
  public func changeList(
    _ table: LinkTable, of owner: Int64, from base: [Int64], to targets: [Int64]
  ) throws(SQLiteError) {
    if targets.starts(with: base) {
      return try appendToList(table, of: owner, Array(targets[base.count...]))
    }
    let present = try places(table, of: owner)
    let merge = ListMerge(base, mine: targets, others: present.map(\.target))
    try write(ListChange(from: present, to: merge.elements), table, owner)
  }

  /// Adds targets at the end of an owner's list, without reading it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *m*) for *n* targets and *m* links.
  public func appendToList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let last = try firstRow(
      "SELECT max(position) FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int64?.self)
    try insert(targets, between: last ?? nil, and: nil, table, owner)
  }

  /// Inserts targets into an owner's list, without reading it.
  ///
  /// - Parameters:
  ///   - table: Links in a list.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  ///   - place: How many links come before them; the end, if there are less.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* + `place`) for *n* targets, unless there is no room left between two links.
  public func insertIntoList(
    _ table: LinkTable, of owner: Int64, _ targets: [Int64], at place: Int
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    let first = max(0, place - 1)
    let around = try rows(
      "SELECT position FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position LIMIT \(place > 0 ? 2 : 1) OFFSET \(first)",
      as: Int64.self)
    if place <= 0 {
      try insert(targets, between: nil, and: around.first, table, owner)
    } else if around.count == 2 {
      try insert(targets, between: around[0], and: around[1], table, owner)
    } else {
      try appendToList(table, of: owner, targets)
    }
  }

  /// Inserts targets between neighbours; where there is no room for them, these are spread out.
  private func insert(
    _ targets: [Int64], between before: Int64?, and after: Int64?, _ table: LinkTable,
    _ owner: Int64
  ) throws(SQLiteError) {
    if let positions = ListChange.positions(targets.count, between: before, and: after) {
      let places = zip(positions, targets).map { ListChange.Place(position: $0, target: $1) }
      return try insert(places, table, owner)
    }
    let present = try places(table, of: owner)
    let place = present.firstIndex { $0.position == after } ?? present.count
    let old = present.indices.map { (target: present[$0].target, place: Optional($0)) }
    let new = targets.map { (target: $0, place: Int?.none) }
    try write(
      ListChange(from: present, to: old[..<place] + new + old[place...]), table, owner)
  }

  /// The links of a list, in order.
  private func places(
    _ table: LinkTable, of owner: Int64
  ) throws(SQLiteError) -> [ListChange.Place] {
    try rows(
      "SELECT position, target FROM \(identifier: table.name) WHERE owner = \(owner) ORDER BY position",
      as: Int64.self, Int64.self
    ).map { ListChange.Place(position: $0, target: $1) }
  }

  private func write(
    _ change: ListChange, _ table: LinkTable, _ owner: Int64
  ) throws(SQLiteError) {
    if !change.removed.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND position IN \(change.removed)"
      )
    }
    try insert(change.inserted, table, owner)
  }

  private func insert(
    _ places: [ListChange.Place], _ table: LinkTable, _ owner: Int64
  ) throws(SQLiteError) {
    guard !places.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, position, target) VALUES (?, ?, ?)")
    for place in places { try insert.run(owner, place.position, place.target) }
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
    try changeSet(table, of: owner, from: Set(stored), to: targets)
  }

  /// Changes an owner's set as another set was changed, whatever others have done to it meanwhile.
  ///
  /// - Parameters:
  ///   - table: Links in a set.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets before the change.
  ///   - targets: The keys of the targets after it.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: As many writes as `base` and `targets` differ; the set is not read.
  public func changeSet(
    _ table: LinkTable, of owner: Int64, from base: Set<Int64>, to targets: Set<Int64>
  ) throws(SQLiteError) {
    try removeLinks(table, of: owner, to: Array(base.subtracting(targets)))
    let coming = targets.subtracting(base)
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, target) VALUES (?, ?) ON CONFLICT DO NOTHING")
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
    let present = try rows(
      "SELECT key, target FROM \(identifier: table.name) WHERE owner = \(owner)",
      as: Value.self, Int64.self)
    let stored = Dictionary(present.map { ($0, $1) }, uniquingKeysWith: { $1 })
    try changeDictionary(table, of: owner, from: stored, to: targets)
  }

  /// Changes an owner's dictionary as another one was changed, key by key, whatever others have done to
  /// other keys meanwhile.
  ///
  /// - Parameters:
  ///   - table: Links in a dictionary.
  ///   - owner: The key of the owner.
  ///   - base: The keys of the targets by the keys of the dictionary before the change.
  ///   - targets: The same after it.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: As many writes as `base` and `targets` differ; the dictionary is not read.
  public func changeDictionary(
    _ table: LinkTable, of owner: Int64, from base: [Value: Int64], to targets: [Value: Int64]
  ) throws(SQLiteError) {
    let leaving = base.keys.filter { targets[$0] == nil }
    if !leaving.isEmpty {
      try executeChange(
        "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND key IN \(leaving)")
    }
    let coming = targets.filter { base[$0.key] != $0.value }
    guard !coming.isEmpty else { return }
    var insert = try statement(
      "INSERT INTO \(identifier: table.name) (owner, key, target) VALUES (?, ?, ?) ON CONFLICT (owner, key) DO UPDATE SET target = excluded.target"
    )
    for (key, target) in coming { try insert.run(owner, key, target) }
  }

  /// Removes the links of an owner to some targets, however often it has them.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - targets: The keys of the targets.
  /// - Throws: ``SQLiteError``.
  public func removeLinks(
    _ table: LinkTable, of owner: Int64, to targets: [Int64]
  ) throws(SQLiteError) {
    guard !targets.isEmpty else { return }
    try executeChange(
      "DELETE FROM \(identifier: table.name) WHERE owner = \(owner) AND target IN \(targets)")
  }

  /// Removes all links of an owner.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  /// - Throws: ``SQLiteError``.
  public func removeLinks(_ table: LinkTable, of owner: Int64) throws(SQLiteError) {
    try executeChange("DELETE FROM \(identifier: table.name) WHERE owner = \(owner)")
  }
}
