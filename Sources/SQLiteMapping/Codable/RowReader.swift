package import SQLiteCore

/// A reader that decodes the rows of one statement as `Decodable` types, directly from the
/// statement's columns.
///
/// It is created once per statement, on the first row, and each call decodes the current row. The
/// column of each property is looked up once, for the first row. Types receive a ``RowDecoder``,
/// and never this object, which owns the statement.
@usableFromInline package final class RowReader {
  let handle: StatementHandle
  let content: DecodedRow
  @usableFromInline let isSingle: Bool

  /// Creates a reader of a statement's rows.
  ///
  /// - Parameters:
  ///   - statement: A statement that has a current row.
  ///   - type: The type that the rows are decoded as, for error messages.
  ///   - strategies: The forms in which values are stored.
  ///   - allowsMissingColumns: Whether an optional property without a column is decoded as nil.
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
    content.mark.recycle()
  }

  /// Decodes the current row. The decoder that the type receives is invalid after this call.
  ///
  /// - Throws: ``RowDecodingError``, or an error from the type's own `init(from:)`.
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

  /// Begins a row and returns a decoder for it.
  @usableFromInline func begin() -> RowDecoder { content.begin() }

  /// Ends the row, which invalidates its decoder and the remaining copies of its containers.
  @usableFromInline func end() { content.end() }

  /// Returns whether the only column contains the whole value of a type.
  // Separate from `scalar(_:)`, because an optional result would cost a metadata lookup per call
  // (benchmark `call`).
  @inline(never) @usableFromInline func isScalar(_ type: Any.Type) -> Bool {
    content.isScalar(type)
  }

  /// Reads a scalar from the only column.
  @inline(never) @usableFromInline func scalar<Result: Decodable>(
    _ type: Result.Type
  ) throws -> Result {
    try content.value(type, at: 0)
  }

  /// Converts a `DecodingError` to a ``RowDecodingError``. Returns any other error unchanged.
  @inline(never) @usableFromInline func named(_ error: any Error) -> any Error {
    content.named(error)
  }

  /// Returns whether the reader was created for `statement` and the statement's columns haven't
  /// changed since.
  func reads(_ statement: borrowing Statement) -> Bool {
    handle === statement.handle && content.columns === statement.handle.columnNames
  }
}

/// A decoder of one row of a statement, or of only those columns of the row that belong to one
/// property.
///
/// It consists of three words and owns nothing, so it needs no allocation as `any Decoder` and no
/// reference counting per row. If a type keeps it, it throws after its row has ended.
///
/// Proof that the reference is not followed after the row is released: the ``DecodedRow`` is owned
/// by its ``RowReader``, or by the enclosing row, until the row has ended. Each access checks the
/// mark first, and the memory of a mark is never freed. A mark never has the number of an ended row
/// again.
@safe @usableFromInline package struct RowDecoder: Decoder {
  private let mark: RowMark
  /// The number of the row that the decoder is valid for.
  private let row: Int
  private let content: Unmanaged<DecodedRow>

  init(_ content: DecodedRow) {
    mark = content.mark
    row = mark.row
    unsafe self.content = Unmanaged.passUnretained(content)
  }

  @usableFromInline package var codingPath: [any CodingKey] {
    (try? withRow { $0.codingPath }) ?? []
  }
  @usableFromInline package var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Decodes a value from the row: a scalar from the only column, any other type by its properties.
  func value<Result: Decodable>(as type: Result.Type) throws -> Result {
    try withRow { content in
      do {
        if content.isSingle, content.isScalar(type) { return try content.value(type, at: 0) }
        return try Result(from: self)
      } catch {
        throw content.named(error)
      }
    }
  }

  /// Calls `body` with the row, or throws if the row has ended.
  @inline(__always)
  fileprivate func withRow<Result>(_ body: (DecodedRow) throws -> Result) throws -> Result {
    guard mark.row == row else { throw DecodingError.expiredDecoder }
    return try unsafe content._withUnsafeGuaranteedRef(body)
  }

  @usableFromInline package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    try withRow { $0.container(keyedBy: type) }
  }

  @usableFromInline package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try only("an array").unkeyedContainer()
  }

  @usableFromInline package func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try withRow { _ in RowValueContainer(decoder: self) }
  }

  /// Returns a decoder of the row's only column.
  ///
  /// - Parameter wanted: The kind of value that is decoded, for the error if the row doesn't have
  ///   exactly one column.
  fileprivate func only(_ wanted: String) throws -> ColumnDecoder {
    try withRow { try $0.onlyColumn(for: wanted) }
  }
}

/// The single-value container of a row. It decodes a scalar from the only column, and any other
/// value with the decoder of the row.
private struct RowValueContainer: SingleValueDecodingContainer {
  let decoder: RowDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool {
    // This method cannot throw, but the next call does.
    (try? decoder.withRow { $0.isNull }) ?? false
  }

  dynamic func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    guard type is any ScalarValue.Type else { return try decoder.value(as: type) }
    return try decoder.only("\(type)").decode(type)
  }
}

/// An error that is thrown if a row cannot be decoded as the requested type.
///
/// The error doesn't contain any stored content, because it may be private.
public struct RowDecodingError: Error, Hashable, Sendable {
  /// The name of the type that the row was decoded as.
  public let type: String
  /// The path to the value that couldn't be decoded: the property and, for a nested value, the keys
  /// inside it.
  public let codingPath: [String]
  /// The name of the column, or nil if the error isn't about one column.
  public let column: String?
  /// The storage class of the value in the column: `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`. Nil
  /// if the error isn't about one column.
  public let storageClass: String?
  /// The reason for the error, in English.
  public let message: String
  /// The SQL that returned the row.
  public let sql: String
}

extension RowDecodingError: CustomStringConvertible {
  /// A message with the type, the property, the column and its storage class, the reason, and the
  /// SQL.
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
  /// The debug description and the coding path of the error's context.
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
