package import SQLiteCore

/// A binder that binds `Encodable` values to the parameters of one statement, row after row.
///
/// It is created once per statement and looks up the parameter of each property once. Parameters
/// that a value doesn't encode are bound to NULL, regardless of the previous row. Types receive
/// a ``RowEncoder``, and never this object, which owns the statement.
package final class RowBinder {
  let content: EncodedRow
  let handle: StatementHandle

  /// Creates a binder for a statement.
  ///
  /// - Parameters:
  ///   - statement: A statement with one parameter per column.
  ///   - columns: The names of the columns, in the order of the parameters, starting with parameter
  ///     1.
  ///   - strategies: The forms in which values are stored.
  ///   - isPartial: Whether properties without a parameter are skipped.
  package init(
    _ statement: borrowing Statement, columns: [String], strategies: MappingStrategies,
    isPartial: Bool = false
  ) {
    handle = statement.handle
    content = EncodedRow(
      statement.handle, columns: columns, strategies: strategies, isPartial: isPartial)
  }

  deinit {
    content.close()
    content.mark.recycle()
  }

  /// Binds all properties of `value`. The statement must have been reset. The encoder that the
  /// value receives is invalid after this call.
  ///
  /// - Throws: ``UnknownColumn`` if a property has no parameter, or an error that names the
  ///   property if its value cannot be stored.
  package func bind(_ value: some Encodable) throws {
    let encoder = content.begin()
    defer { content.end() }
    try value.encode(to: encoder)
    try content.bindRemaining()
  }

  /// Returns whether the last value bound something other than NULL to a parameter.
  package func isBound(_ parameter: Int32) -> Bool { content.isBound(parameter) }

  /// Returns whether the binder was created for `statement`.
  func binds(to statement: borrowing Statement) -> Bool { handle === statement.handle }
}
