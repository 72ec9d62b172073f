import SQLiteCore
import SQLiteMapping

/// Reads one column of a query: the way is decided once for all rows (benchmark `values`).
struct ColumnReader<Result>: Sendable {
  let read: @Sendable (_ row: StatementHandle, _ column: Int32) throws -> Result

  init(_ read: @escaping @Sendable (_ row: StatementHandle, _ column: Int32) throws -> Result) {
    self.read = read
  }
}

extension ColumnReader {
  /// Reads the column of a property.
  init<Column: MagicColumn>(_ column: Column.Type) where Column.Value == Result {
    self.init(orElse: { try Column.value(from: $0.value(at: $1)) })
  }

  /// Reads the value of an expression, which may be nil.
  init<Wrapped: Codable & SendableMetatype>(_ type: Wrapped.Type) where Result == Wrapped? {
    self.init(orElse: {
      let stored = try $0.value(at: $1)
      return stored.isNull ? nil : try Storage.value(Wrapped.self, of: stored)
    })
  }

  /// Reads a plain type as SQLite has it, and else by `other`, which converts or refuses.
  private init(orElse other: @escaping @Sendable (StatementHandle, Int32) throws -> Result) {
    self =
      ColumnReader(plain: { $0.text(at: $1) }, orElse: other)
      ?? ColumnReader(plain: { $0.integer(at: $1).flatMap { Int(exactly: $0) } }, orElse: other)
      ?? ColumnReader(plain: { $0.real(at: $1) }, orElse: other) ?? ColumnReader(other)
  }

  /// Reads values of a plain type, or optionals of it; nil if the result is neither.
  private init?<Plain>(
    plain: @escaping @Sendable (StatementHandle, Int32) -> Plain?,
    orElse other: @escaping @Sendable (StatementHandle, Int32) throws -> Result
  ) {
    if Result.self == Plain.self {
      self.read = { row, column in
        guard let value = plain(row, column) else { return try other(row, column) }
        // Both are one type.
        return unsafe unsafeBitCast(value, to: Result.self)
      }
    } else if Result.self == Plain?.self {
      self.read = { row, column in
        guard let value = plain(row, column) else { return try other(row, column) }
        return unsafe unsafeBitCast(Plain?.some(value), to: Result.self)
      }
    } else {
      return nil
    }
  }
}
