public import SQLiteCore

/// A table of links between the rows of two tables: a to-many relation as SQL has it.
///
/// Each row is a link, with foreign keys to both ends, so that no link outlives either. The table has
/// no rowids, and is indexed from both ends.
public struct LinkTable: Hashable, Sendable {
  /// How the links of one owner are arranged.
  public enum Arrangement: Hashable, Sendable {
    /// In order; a target may occur several times.
    case list
    /// Without order; each target once.
    case set
    /// By keys, each of which has one target.
    case dictionary
  }

  /// One end of the links.
  public struct End: Hashable, Sendable {
    /// The table that is linked.
    public let table: String
    /// Its integer key.
    public let key: String

    /// Names an end.
    ///
    /// - Parameters:
    ///   - table: The table that is linked.
    ///   - key: Its integer key.
    public init(table: String, key: String) {
      self.table = table
      self.key = key
    }
  }

  /// The table's name.
  public let name: String
  /// How the links of one owner are arranged.
  public let arrangement: Arrangement
  /// Whose links these are.
  public let owner: End
  /// What they lead to.
  public let target: End
  /// Whether a target cannot be deleted as long as there are links to it.
  public let keepsTargets: Bool

  /// Describes links.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - arrangement: How the links of one owner are arranged.
  ///   - owner: Whose links these are.
  ///   - target: What they lead to.
  ///   - keepsTargets: Whether a target cannot be deleted as long as there are links to it.
  public init(
    _ name: String, _ arrangement: Arrangement, from owner: End, to target: End,
    keepsTargets: Bool = false
  ) {
    self.keepsTargets = keepsTargets
    self.name = name
    self.arrangement = arrangement
    self.owner = owner
    self.target = target
  }
}

/// A link as it is stored.
public struct Link: Hashable, Sendable {
  /// The key of the owner's row.
  public let owner: Int64
  /// The key of a dictionary, or the position in a list; NULL in a set.
  public let place: Value
  /// The key of the target's row.
  public let target: Int64

  /// Describes a link.
  ///
  /// - Parameters:
  ///   - owner: The key of the owner's row.
  ///   - place: The key of a dictionary, or the position in a list; NULL in a set.
  ///   - target: The key of the target's row.
  public init(owner: Int64, place: Value, target: Int64) {
    self.owner = owner
    self.place = place
    self.target = target
  }
}

extension LinkTable {
  /// The column that tells apart the links of one owner, if it is not the target itself.
  var place: String? {
    switch arrangement {
    case .list: "position"
    case .dictionary: "key"
    case .set: nil
    }
  }

  /// The table that stores the links.
  package var definition: TableDefinition {
    func end(_ name: String, _ end: End, _ rule: DeleteRule) -> ColumnDefinition {
      ColumnDefinition(
        name, .integer,
        reference: .init(table: end.table, column: end.key, onDelete: rule))
    }
    var columns = [end("owner", owner, .cascade)]
    switch arrangement {
    case .list: columns.append(ColumnDefinition("position", .integer))
    case .dictionary: columns.append(ColumnDefinition("key", .blob))
    case .set: break
    }
    columns.append(end("target", target, keepsTargets ? .restrict : .cascade))
    return TableDefinition(
      name, key: .withoutRowID(["owner", place ?? "target"]), columns: columns,
      indexes: [IndexDefinition(["target", "owner"])])
  }
}
