package import SQLiteCore

/// Binds `Encodable` values to the parameters of one statement, row after row.
///
/// It is made once per statement; which parameter a property is bound to is found out once. A
/// parameter that a value does not encode is NULL, whatever the row before had there. Types are handed
/// a ``RowEncoder``, and never this, which owns the statement.
package final class RowBinder {
  let content: EncodedRow
  let handle: StatementHandle

  /// Prepares to bind.
  ///
  /// - Parameters:
  ///   - statement: A statement with one parameter for each column.
  ///   - columns: The columns that parameters 1 and following stand for.
  ///   - strategies: How values are stored.
  ///   - isPartial: Whether properties without a parameter are passed over.
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
    content.mark.giveBack()
  }

  /// Binds all properties of `value`; the statement must stand at its beginning. What is handed to the
  /// value ends with this call.
  ///
  /// - Throws: ``UnknownColumn`` for a property without a parameter; an error that names the
  ///   property if its value cannot be stored.
  package func bind(_ value: some Encodable) throws {
    let encoder = content.begin()
    defer { content.end() }
    try value.encode(to: encoder)
    try content.bindRest()
  }

  /// Returns whether the last value bound something that is not NULL to a parameter.
  package func isBound(_ parameter: Int32) -> Bool { content.isBound(parameter) }

  /// Returns whether this binds to a statement.
  func binds(to statement: borrowing Statement) -> Bool { handle === statement.handle }
}
