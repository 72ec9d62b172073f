package import SQLiteCore

/// Reads rows of one statement as `Decodable` types, straight from the statement's columns.
///
/// It is made once per statement, on its first row, and reads whatever row the statement stands on.
/// The column of each property is looked up for the first row and serves all the others. Types are handed
/// a ``RowDecoder``, and never this, which owns the statement.
@usableFromInline package final class RowReader {
  let handle: StatementHandle
  let content: DecodedRow
  @usableFromInline let isSingle: Bool

  /// Prepares to read rows.
  ///
  /// - Parameters:
  ///   - statement: A statement that stands on a row.
  ///   - type: What the rows are read as; errors name it.
  ///   - strategies: How values are stored.
  ///   - allowsMissingColumns: Whether an optional property without a column is nil.
  package init(
    _ statement: borrowing Statement, as type: Any.Type, strategies: MappingStrategies,
    allowsMissingColumns: Bool = false
  ) {
    handle = statement.handle
    content = DecodedRow(
      statement.handle, as: type, strategies, RowMark(),
      allowsMissingColumns: allowsMissingColumns)
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
    do {
      let decoder = begin()
      defer { end() }
      if isSingle, isScalar(type) { return try scalar(type) }
      return try Result(from: decoder)
    } catch {
      throw named(error)
    }
  }

  /// Begins a row, with a decoder for it.
  @usableFromInline func begin() -> RowDecoder { content.begin() }

  /// Ends a row.
  @usableFromInline func end() { content.end() }

  /// Returns whether the only column holds all of a value of a type.
  // An optional value would cost its type's metadata, which is found out at each call (benchmark `call`).
  @inline(never) @usableFromInline func isScalar(_ type: Any.Type) -> Bool {
    content.isScalar(type)
  }

  /// Reads the only column.
  @inline(never) @usableFromInline func scalar<Result: Decodable>(
    _ type: Result.Type
  ) throws -> Result {
    try content.value(type, at: 0)
  }

  /// An error of a type's own code, or another decoder's, as one of the row.
  @inline(never) @usableFromInline func named(_ error: any Error) -> any Error {
    content.named(error)
  }

  /// Returns whether this still reads the columns of a statement's rows.
  func reads(_ statement: borrowing Statement) -> Bool {
    handle === statement.handle && content.columns === statement.handle.columnNames
  }
}

/// Reads one row of a statement, or those of its columns that belong to one property.
///
/// Three words that own nothing, so that it needs no memory of its own as `any Decoder`, and no counting of
/// references for each row. One that is kept throws when its row has ended.
///
/// Proof that the reference is not followed after the row is gone: the ``DecodedRow`` is owned by its
/// ``RowReader``, or by the row around it, until the row has ended, and the mark is asked first, whose memory is
/// never freed. The number of a row that has ended is never that of the mark again.
@safe @usableFromInline package struct RowDecoder: Decoder {
  private let mark: RowMark
  /// The number of its row.
  private let row: Int
  private let content: Unmanaged<DecodedRow>

  init(_ content: DecodedRow) {
    mark = content.mark
    row = mark.row
    unsafe self.content = Unmanaged.passUnretained(content)
  }

  @usableFromInline package var codingPath: [any CodingKey] { (try? lend { $0.codingPath }) ?? [] }
  @usableFromInline package var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Reads a value of a nested type.
  func value<Result: Decodable>(as type: Result.Type) throws -> Result {
    try lend { content in
      do {
        if content.isSingle, content.isScalar(type) { return try content.value(type, at: 0) }
        return try Result(from: self)
      } catch {
        throw content.named(error)
      }
    }
  }

  /// Lends the row; throws if it has ended.
  @inline(__always)
  fileprivate func lend<Result>(_ body: (DecodedRow) throws -> Result) throws -> Result {
    guard mark.row == row else { throw DecodingError.gone }
    return try unsafe content._withUnsafeGuaranteedRef(body)
  }

  @usableFromInline package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    try lend { $0.container(keyedBy: type) }
  }

  @usableFromInline package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try only("an array").unkeyedContainer()
  }

  @usableFromInline package func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try lend { _ in RowValueContainer(decoder: self) }
  }

  /// A decoder for the only column.
  fileprivate func only(_ wanted: String) throws -> ColumnDecoder {
    try lend { try $0.onlyColumn(for: wanted) }
  }
}

/// The single value container of a row, which has the only column, or a value that reads the row itself.
private struct RowValueContainer: SingleValueDecodingContainer {
  let decoder: RowDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool {
    // It cannot throw, but the next call does.
    (try? decoder.lend { $0.isNull }) ?? false
  }

  dynamic func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    guard type is any ScalarValue.Type else { return try decoder.value(as: type) }
    return try decoder.only("\(type)").decode(type)
  }
}

/// A row that cannot be read as the type that was asked for.
///
/// The description names everything but the stored content, which may be private.
public struct RowDecodingError: Error, Hashable, Sendable {
  /// The type that the row was read as.
  public let type: String
  /// The property, and the way to it inside a nested value.
  public let codingPath: [String]
  /// The column, or nil if there is none.
  public let column: String?
  /// The storage class found in the column: `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`.
  public let storageClass: String?
  /// The reason, in English.
  public let message: String
  /// The SQL that returned the row.
  public let sql: String
}

extension RowDecodingError: CustomStringConvertible {
  /// The type, the property, the column, what was found and the SQL.
  public var description: String {
    var text = ([type] + codingPath).joined(separator: ".")
    if let column {
      text += " (column “\(column)”"
      if let storageClass { text += ", which holds \(storageClass)" }
      text += ")"
    }
    return "\(text): \(message), in: \(sql)"
  }
}

extension DecodingError {
  /// The words and the path of the error, without its type.
  var explanation: (message: String, path: [any CodingKey]) {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      (context.debugDescription, context.codingPath)
    case .keyNotFound(let key, let context):
      ("there is no value for “\(key.stringValue)”", context.codingPath)
    @unknown default: ("\(self)", [])
    }
  }
}
