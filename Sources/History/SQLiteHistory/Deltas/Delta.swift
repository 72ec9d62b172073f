public import SQLiteCore

/// The change of one record by one transaction, or something else that a reader of changes must know.
public enum Delta<Value> {
  /// A row is new.
  case inserted(Value)
  /// A row has other values. The properties whose columns differ are named as they are in Swift.
  case updated(old: Value, new: Value, properties: Set<String>)
  /// A row is gone.
  case deleted(Value)
  /// All records of the table: the state that the changes which follow belong to. Only where it was asked for, first of all,
  /// and again after ``tooMuch`` and ``replaced``.
  case current([Value])
  /// The reader was too slow, and changes were dropped, or a transaction changed more than was kept. The changes that
  /// follow are those after the last one that was dropped. With `including: .current` the records follow as they are now;
  /// without, begin anew with it to know the state.
  case tooMuch
  /// The table was altered or dropped, the whole database was restored, or a transaction had begun before anybody listened:
  /// any row may differ. Else as ``tooMuch``.
  case replaced
  /// A row that changed cannot be read as the type.
  case unreadable(UnreadableRow)
}

extension Delta: Sendable where Value: Sendable {}
extension Delta: Equatable where Value: Equatable {}

/// A row that changed, and that cannot be read as a record.
public struct UnreadableRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table.
  public let table: String
  /// The names of the columns that `old` and `new` have values of.
  public let columns: [String]
  /// The values before; nil for a row that is new.
  public let old: [SQLiteCore.Value]?
  /// The values after; nil for a row that is gone.
  public let new: [SQLiteCore.Value]?
  /// The reason why the row does not fit the type, which names the column.
  public let reason: String

  /// The table and the reason; the values may be private.
  public var description: String { "a changed row of “\(table)” cannot be read: \(reason)" }
}

/// The records that a loop over changes begins with.
public enum DeltaStart: Hashable, Sendable {
  /// None: only changes are told.
  case changes
  /// All records as they are, then the changes since. They are read inside a transaction that keeps writers out for as long
  /// as that takes, so that no change is missed and none told twice.
  case current
}
