public import SQLiteCore

/// A change of one record by one transaction, or another event in a sequence of changes.
public enum Delta<Value> {
  /// A record was inserted.
  case inserted(Value)
  /// A record was updated. `properties` contains the names of the Swift properties with changed
  /// stored values.
  case updated(old: Value, new: Value, properties: Set<String>)
  /// A record was deleted. The value is the record before its deletion.
  case deleted(Value)
  /// All records of the table, to which the following changes apply.
  ///
  /// It is delivered only with `including: .current`: first, and again after each ``overflow`` and
  /// ``replaced``.
  case current([Value])
  /// Changes are missing, because the reader was too slow or the changes of a transaction exceeded
  /// the size limit.
  ///
  /// The following changes are those after the last missing one. With `including: .current`, the
  /// next element contains the current records. Without it, start a new sequence with `including:
  /// .current` to get the current state.
  case overflow
  /// Any row may differ, because the table was altered or dropped, the database was restored, or a
  /// transaction had already begun when the sequence was created.
  ///
  /// The sequence continues as after ``overflow``.
  case replaced
  /// A changed row can't be decoded as a record.
  case unreadable(UnreadableRow)
}

extension Delta: Sendable where Value: Sendable {}
extension Delta: Equatable where Value: Equatable {}

/// A changed row that can't be decoded as a record.
public struct UnreadableRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the table that contains the row.
  public let table: String
  /// The names of the columns, in the order of the values in ``old`` and ``new``.
  public let columns: [String]
  /// The values of the row before the transaction; nil for a new row.
  public let old: [SQLiteCore.Value]?
  /// The values of the row after the transaction; nil for a deleted row.
  public let new: [SQLiteCore.Value]?
  /// The reason why the row can't be decoded, with the property and the column of the failure.
  public let reason: String

  /// A description with the table and the reason. It contains no values, which may be private.
  public var description: String { "a changed row of “\(table)” cannot be read: \(reason)" }
}

/// The start of a sequence of changes, which determines whether the current records come first.
public enum DeltaStart: Hashable, Sendable {
  /// The sequence contains only the changes after its creation, not the current records.
  case changes
  /// The sequence starts with all current records, followed by the changes since then. No change is
  /// missed or delivered twice.
  ///
  /// `Database.deltas` reads the records in a write transaction, so writers wait until all records
  /// are read. ``ChangeJournal/deltas(of:including:)`` reads them from a snapshot.
  case current
}
