import SQLiteCore
import SQLiteRelations

extension Connection {
  /// Writes the links of an object.
  ///
  /// - Parameters:
  ///   - table: The link table.
  ///   - owner: The key of the owner.
  ///   - base: The links before the object was changed, to write only the difference. Nil to
  ///     replace all links.
  ///   - links: The new links. The keys of a dictionary must be unique.
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

  /// Applies a change to an owner's current links without reading all of them.
  func write(_ table: LinkTable, of owner: Int64, _ edit: LinkEdit<Int64>) throws {
    switch (edit, table.arrangement) {
    case (.add(let targets, nil), .list): try appendToList(table, of: owner, targets)
    case (.add(let targets, let index?), .list):
      try insertIntoList(table, of: owner, targets, at: index)
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

extension Connection {
  /// Checks that the relations that a save has changed reference only existing objects.
  ///
  /// SQLite reports only that a foreign key is violated, and not which one. A server reports
  /// nothing before the commit fails, so the relations are checked then. Inside an enclosing
  /// transaction on a server, they are checked immediately, because the body of that transaction
  /// can continue after an error of the save.
  ///
  /// - Parameter relations: Returns the changed relations, each with the keys of its owners, or nil
  ///   for all owners. It is called only if it is needed.
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if a referenced object doesn't exist. If
  ///   the check is deferred, the commit throws it.
  func checkTargetsExist(
    of relations: () throws -> [(ObjectRelation, owners: [Int64]?)]
  ) throws {
    guard isRemote else {
      if hasDeferredViolations, let error = try missingTarget(of: relations()) { throw error }
      return
    }
    let relations = try relations()
    if relations.isEmpty { return }
    if isInsideOuterTransaction {
      if let error = try missingTarget(of: relations) { throw error }
    } else {
      onForeignKeyFailure { try $0.missingTarget(of: relations) }
    }
  }

  private func missingTarget(
    of relations: [(ObjectRelation, owners: [Int64]?)]
  ) throws -> MagicError? {
    for (relation, owners) in relations {
      guard let lost = try relation.keys.missingEnd(from: owners, in: self) else { continue }
      return .missingTarget(type: relation.destination.typeName, zIndex: lost)
    }
    return nil
  }
}
