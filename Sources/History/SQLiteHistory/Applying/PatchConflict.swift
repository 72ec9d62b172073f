public import SQLiteCore

/// A conflict between a row of a ``Patch`` and the database to which the patch is applied.
public struct PatchConflict: Hashable, Sendable {
  /// The reason for a conflict. The cases correspond to SQLite's `SQLITE_CHANGESET_…` constants.
  public enum Kind: Hashable, Sendable {
    /// The row to update or delete has other values than the patch expects.
    case data
    /// The row to update or delete doesn't exist.
    case notFound
    /// The row to insert has the primary key of an existing row.
    case conflict
    /// The change violates a UNIQUE, NOT NULL or CHECK constraint, or a trigger rejects it. Rows of
    /// the patch that only exchange unique values with each other don't cause this conflict.
    case constraint
    /// After all rows have been applied, a foreign key references a missing row. This includes
    /// foreign keys with `ON DELETE RESTRICT`.
    ///
    /// This conflict can't be resolved. It is never passed to a closure, and nothing is applied.
    case foreignKey
  }

  /// The reason for the conflict.
  public let kind: Kind
  /// The name of the table. For ``Kind/foreignKey``, the table with the foreign key.
  public let table: String
  /// The names of the columns, in the order of the values in `row` and `current`; empty for
  /// ``Kind/foreignKey``.
  public let columns: [String]
  /// The row of the patch. For ``Kind/foreignKey``, an insert without values.
  public let row: Patch.Row
  /// The primary key of the row.
  ///
  /// For ``Kind/foreignKey``, the rowid of the row with the foreign key, or an empty array if it is
  /// unknown. If the patch was applied without triggers, by an undo for example, it is the primary
  /// key of the patch's row that causes the violation.
  public let key: [Value]
  /// The values of the row in the database; nil if the row doesn't exist, and for
  /// ``Kind/foreignKey``.
  public let current: [Value]?
  /// The names of the columns with other values than the patch expects. Empty unless the reason is
  /// ``Kind/data`` or ``Kind/conflict``.
  public let conflictingColumns: [String]
  /// SQLite's message for ``Kind/constraint``, or a description of the missing row for
  /// ``Kind/foreignKey``; nil for other reasons.
  public let message: String?
}

extension PatchConflict: CustomStringConvertible {
  /// A description with the table, the reason and the columns. It contains no values, which may be
  /// private.
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
        "it has unexpected values in \(conflictingColumns.joined(separator: ", "))"
      case .notFound: "it does not exist"
      case .conflict:
        "a row with its key exists and differs in \(conflictingColumns.joined(separator: ", "))"
      case .constraint: message ?? "it violates a constraint"
      case .foreignKey: message ?? "a foreign key references a missing row"
      }
    return kind == .foreignKey ? "“\(table)”: \(reason)" : "cannot \(verb) “\(table)”: \(reason)"
  }
}

/// The resolution of a ``PatchConflict``.
///
/// If a closure returns a resolution that isn't allowed for the conflict, the call throws
/// `SQLiteError` with `ResultCode.misuse`.
public enum PatchResolution: Hashable, Sendable {
  /// Leaves the row in the database unchanged.
  case omit
  /// Applies the change of the patch, whatever values the row in the database has. Not allowed for
  /// ``PatchConflict/Kind/notFound`` and ``PatchConflict/Kind/constraint``.
  case replace
  /// Sets those columns of the patch whose current values are the expected ones, and leaves the
  /// others unchanged. Allowed only for updates with ``PatchConflict/Kind/data``.
  case merge
  /// Updates the row as ``merge`` does, and also sets the named columns to the given values. The
  /// columns must exist and must not belong to the primary key. Allowed only for updates with
  /// ``PatchConflict/Kind/data``.
  case set([String: Value])
  /// Applies nothing: the call throws ``PatchError`` with this conflict.
  case abort
}

/// The outcome of applying a ``Patch``, including the resolution of each conflict. Pass it to
/// ``Patch/rebased(onto:)`` to rebase a patch.
public struct PatchReport: Hashable, Sendable {
  /// A conflict and its resolution.
  public struct Resolved: Hashable, Sendable {
    /// The conflict that the closure received.
    public let conflict: PatchConflict
    /// The resolution that the closure returned.
    public let resolution: PatchResolution
  }

  /// The number of rows that were inserted, updated or deleted.
  public internal(set) var appliedCount = 0
  /// The number of rows that were skipped because they already had the values of the patch.
  public internal(set) var skippedCount = 0
  /// The conflicts with their resolutions, in the order in which they were encountered.
  public internal(set) var resolved: [Resolved] = []
  /// The rows that were skipped or in conflict, in the order in which they were encountered.
  var settled: [Settled] = []

  /// A row of the patch that was skipped or in conflict.
  struct Settled: Hashable, Sendable {
    let table: String
    let keyPositions: [UInt8]
    /// The names of the columns in the database, in the order of the values in `row`.
    let columns: [String]
    let row: Patch.Row
    /// The values in the database before the conflict was resolved; nil if the row didn't exist.
    let before: [Value]?
    /// The values in the database after the conflict was resolved; nil if the row doesn't exist.
    let after: [Value]?
  }
}

/// An error that is thrown if a ``Patch`` can't be created, combined, rebased or applied. The
/// database is unchanged.
public struct PatchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason why an operation on a patch failed.
  public enum Reason: Hashable, Sendable {
    /// Rows of the patch conflict with the database. The array contains every unresolved conflict,
    /// or only the one that was resolved with ``PatchResolution/abort``.
    case conflicts([PatchConflict])
    /// A table is missing, or its columns or its primary key differ between the patch and the
    /// database or between two patches. `difference` is a description in English.
    case schema(table: String, difference: String)
    /// A table declares no primary key, or a changed row has NULL in its key.
    ///
    /// SQLite identifies such rows only by rowid, which VACUUM may change. Declare a PRIMARY KEY of
    /// NOT NULL columns.
    case noKey(table: String)
    /// The old or new value of a changed column is text that isn't valid UTF-8. A patch can't
    /// represent such text.
    case notUTF8(table: String, column: String)
  }

  /// The reason why the operation failed.
  public let reason: Reason

  /// The conflicts of ``Reason/conflicts(_:)``; empty for other reasons.
  public var conflicts: [PatchConflict] {
    if case .conflicts(let conflicts) = reason { conflicts } else { [] }
  }

  /// A description with the tables, the reasons and the columns. It contains no values, which may
  /// be private.
  public var description: String {
    switch reason {
    case .conflicts(let conflicts):
      let shown = conflicts.prefix(5).map(\.description).joined(separator: "; ")
      let more = conflicts.count > 5 ? "; and \(conflicts.count - 5) more" : ""
      let rows = conflicts.count == 1 ? "1 row" : "\(conflicts.count) rows"
      return "the patch conflicts with \(rows): \(shown)\(more)"
    case .schema(let table, let difference):
      return "the patch does not fit the table “\(table)”: \(difference)"
    case .noKey(let table):
      return
        "rows of “\(table)” cannot be identified, because VACUUM may renumber them; declare a "
        + "PRIMARY KEY of columns that are NOT NULL"
    case .notUTF8(let table, let column):
      return "“\(table)”.“\(column)” contains text that is not valid UTF-8, which a patch cannot "
        + "contain"
    }
  }
}
