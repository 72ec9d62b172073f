public import SQLiteCore

/// A row of a ``Patch`` that does not fit the database that it is applied to.
public struct PatchConflict: Hashable, Sendable {
  /// The reason, as SQLite names it (`SQLITE_CHANGESET_…`).
  public enum Kind: Hashable, Sendable {
    /// The row that is to be updated or deleted is there, with other values than the patch expects.
    case data
    /// The row that is to be updated or deleted is not there.
    case notFound
    /// A row with the primary key of the one to be inserted is there already.
    case conflict
    /// The change would break a constraint: UNIQUE, NOT NULL or CHECK, or a trigger refuses it. Rows that exchange unique
    /// values among themselves break none.
    case constraint
    /// At the end a foreign key leads nowhere, also one that is `ON DELETE RESTRICT`. This cannot be resolved: nothing is
    /// applied.
    case foreignKey
  }

  /// The reason.
  public let kind: Kind
  /// The table.
  public let table: String
  /// The names of the columns that `row` and `current` have values of, in order.
  public let columns: [String]
  /// The row of the patch. For ``Kind/foreignKey`` it is the row whose reference leads nowhere, as if it was inserted.
  public let row: Patch.Row
  /// The primary key of the row; its rowid for a ``Kind/foreignKey``.
  public let key: [Value]
  /// The row as it is in the database, nil if it is not there.
  public let current: [Value]?
  /// The columns that are not as the patch expects them, for ``Kind/data`` and ``Kind/conflict``.
  public let conflictingColumns: [String]
  /// SQLite's explanation of a broken constraint, or ours of a broken foreign key.
  public let message: String?
}

extension PatchConflict: CustomStringConvertible {
  /// The table, the reason and the columns; the values may be private.
  public var description: String {
    let verb =
      switch row.kind {
      case .insert: "insert a row into"
      case .update: "update a row of"
      case .delete: "delete a row of"
      }
    let reason =
      switch kind {
      case .data:
        "it has other values than expected in \(conflictingColumns.joined(separator: ", "))"
      case .notFound: "it is not there"
      case .conflict:
        "a row with its key is there, which differs in \(conflictingColumns.joined(separator: ", "))"
      case .constraint: message ?? "a constraint forbids it"
      case .foreignKey: message ?? "a foreign key leads nowhere"
      }
    return kind == .foreignKey ? "“\(table)”: \(reason)" : "cannot \(verb) “\(table)”: \(reason)"
  }
}

/// The answer to a ``PatchConflict``.
public enum PatchResolution: Hashable, Sendable {
  /// The row stays as it is in the database.
  case omit
  /// The row becomes as the patch has it. Not for ``PatchConflict/Kind/notFound`` and ``PatchConflict/Kind/constraint``.
  case replace
  /// The columns that are as the patch expects them become as it has them, and the others stay. For updates.
  case merge
  /// As ``merge``, but the named columns get these values. For updates.
  case set([String: Value])
  /// Nothing of the patch is applied.
  case abort
}

/// The outcome of applying a ``Patch``: what its conflicts were resolved by, for ``Patch/rebased(onto:)``.
public struct PatchReport: Hashable, Sendable {
  /// A conflict with its answer.
  public struct Resolved: Hashable, Sendable {
    /// The conflict.
    public let conflict: PatchConflict
    /// The answer.
    public let resolution: PatchResolution
  }

  /// The number of rows that were changed.
  public internal(set) var appliedCount = 0
  /// The number of rows that were as the patch has them before.
  public internal(set) var presentCount = 0
  /// The conflicts and how they were resolved, in the order in which they were found.
  public internal(set) var resolved: [Resolved] = []
  /// The rows that were not simply applied, in the order in which they were found.
  var settled: [Settled] = []

  /// A row of the patch that was not simply applied.
  struct Settled: Hashable, Sendable {
    let table: String
    let keyPositions: [UInt8]
    /// The columns of the rows as they are named in the database.
    let columns: [String]
    let row: Patch.Row
    /// The row in the database before; nil if it was missing.
    let before: [Value]?
    /// The row in the database after; nil if it is missing.
    let after: [Value]?
  }
}

/// A ``Patch`` that was not made or not applied: nothing has changed.
public struct PatchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason.
  public enum Reason: Hashable, Sendable {
    /// Rows do not fit, all of which are named.
    case conflicts([PatchConflict])
    /// A table is missing, or has other columns or another primary key than the patch.
    case schema(table: String, difference: String)
    /// Rows of a table cannot be identified: it declares no primary key, or a row has NULL in it. SQLite numbers such rows
    /// by a rowid, which VACUUM changes. The table needs a PRIMARY KEY whose columns are NOT NULL.
    case noKey(table: String)
    /// A change gives a column text that is not valid UTF-8, or takes it away. A patch cannot hold such text exactly.
    case notUTF8(table: String, column: String)
  }

  /// The reason.
  public let reason: Reason

  /// The conflicts; empty for another reason.
  public var conflicts: [PatchConflict] {
    if case .conflicts(let conflicts) = reason { conflicts } else { [] }
  }

  /// The tables, the reasons and the columns; the values may be private.
  public var description: String {
    switch reason {
    case .conflicts(let conflicts):
      let shown = conflicts.prefix(5).map(\.description).joined(separator: "; ")
      let more = conflicts.count > 5 ? "; and \(conflicts.count - 5) more" : ""
      return "the patch conflicts with \(conflicts.count) rows: \(shown)\(more)"
    case .schema(let table, let difference):
      return "the patch does not fit the table “\(table)”: \(difference)"
    case .noKey(let table):
      return
        "rows of “\(table)” cannot be identified, since VACUUM may renumber them: declare a PRIMARY KEY of columns that are NOT NULL"
    case .notUTF8(let table, let column):
      return "“\(table)”.“\(column)” holds text that is not UTF-8, which a patch cannot hold"
    }
  }
}
