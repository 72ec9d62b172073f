package import SQLiteCore

/// Reads rows of one statement as `Decodable` types, straight from the statement's columns.
///
/// It is made once per statement, on its first row, and reads whatever row the statement stands on.
/// What is found out for one row (which column a property is) serves all the others. Types are handed
/// a ``RowDecoder``, and never this, which owns the statement.
@usableFromInline package final class RowReader {
  let handle: StatementHandle
  let content: DecodedRow
  @usableFromInline let isSingle: Bool

  // Nobody else has a part in these, and to check that costs as much as to read a column.
  /// What reads values of one type in place, a ``DirectReader`` of it.
  @exclusivity(unchecked) @usableFromInline var direct: AnyObject?
  /// That type.
  @exclusivity(unchecked) @usableFromInline var directType: ObjectIdentifier?
  /// Whether it was found out if values can be read in place.
  var isPrepared = false

  /// Prepares to read rows.
  ///
  /// - Parameters:
  ///   - statement: A statement that stands on a row.
  ///   - type: What the rows are read as; errors name it.
  ///   - strategies: How values are stored.
  package init(
    _ statement: borrowing Statement, as type: Any.Type, strategies: MappingStrategies
  ) {
    handle = statement.handle
    content = DecodedRow(statement.handle, as: type, strategies, RowMark())
    isSingle = content.isSingle
  }

  deinit {
    content.close()
    content.mark.giveBack()
  }

  /// Reads the row that the statement stands on. What is handed to the type ends with this call.
  ///
  /// - Throws: ``RowDecodingError``, or what the type's own `init(from:)` throws.
  @inlinable  // Benchmark `fetch`.
  package func row<Result: Decodable>(as type: Result.Type) throws -> Result {
    if unsafe directType == ObjectIdentifier(type), let direct = unsafe direct {
      // Stored together with the type that it was made for.
      return try unsafe unsafeDowncast(direct, to: DirectReader<Result>.self).value(self)
    }
    do {
      let decoder = begin()
      defer { end() }
      if isSingle, let value = try singleValue(type) { return value }
      return try Result(from: decoder)
    } catch {
      throw named(error)
    }
  }

  /// Begins a row, with a decoder for it.
  @usableFromInline func begin() -> RowDecoder { content.begin() }

  /// Ends a row.
  @usableFromInline func end() { content.end() }

  /// The value of the only column, if columns have a form of their own for the type.
  @inline(never) @usableFromInline func singleValue<Result: Decodable>(
    _ type: Result.Type
  ) throws -> Result? {
    content.hasOwnForm(type) ? try content.value(type, at: 0) : nil
  }

  /// An error of a type's own code, or another decoder's, as one of the row.
  @inline(never) @usableFromInline func named(_ error: any Error) -> any Error {
    content.named(error)
  }

  /// Says whether this still reads the columns of a statement's rows.
  func reads(_ statement: borrowing Statement) -> Bool {
    handle === statement.handle && content.columns === statement.handle.columnNames
  }
}
