import SQLiteCore
import SQLiteRelations

extension Connection {
  /// Writes the links of an object.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - base: The links as the object knew them before it was changed: the difference is written. Nil to
  ///     replace all links.
  ///   - links: The new links; of a dictionary each key once.
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

  /// Makes a change of an owner's links, whatever they are now, without reading them.
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
  /// Makes sure that relations which a save has changed lead to no object that is gone.
  ///
  /// SQLite knows that one does, and not which. A server says neither before its commit fails: it is asked then, or at
  /// once if the commit is that of a transaction around the save, whose body may go on without it.
  ///
  /// - Parameter relations: The relations, and the keys of the objects that they lead from; nil for all.
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)``.
  func expectTargets(
    of relations: () throws -> [(ObjectRelation, owners: [Int64]?)]
  ) throws {
    guard isRemote else {
      if hasDeferredViolations, let error = try missingTarget(of: relations()) { throw error }
      return
    }
    let relations = try relations()
    if relations.isEmpty { return }
    if isInsideAnother {
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
