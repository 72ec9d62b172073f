package import SQLiteCore

/// Reads rows of one statement as `Decodable` types, straight from the statement's columns.
///
/// It is made once per statement, on its first row, and reads whatever row the statement stands on.
/// What is found out for one row (which column a property is) serves all the others.
@usableFromInline package final class RowDecoder: Decoder {
  let content: DecodedRow
  private let ticket = RowTicket()
  private let thread = currentThread()
  @usableFromInline let isSingle: Bool
  @usableFromInline package var codingPath: [any CodingKey] { content.codingPath }
  @usableFromInline package var userInfo: [CodingUserInfoKey: Any] { [:] }

  // Nobody else has a part in these, and to check that costs as much as to read a column.
  /// What reads values of one type in place, a ``DirectReader`` of it.
  @exclusivity(unchecked) @usableFromInline var direct: AnyObject?
  /// That type.
  @exclusivity(unchecked) @usableFromInline var directType: ObjectIdentifier?
  /// Whether it was found out if values can be read in place.
  var isPrepared = false
  @exclusivity(unchecked) private var containers: AnyObject?
  @exclusivity(unchecked) private var containersKey: ObjectIdentifier?
  private var otherContainers: [ObjectIdentifier: AnyObject] = [:]

  /// Prepares to read rows.
  ///
  /// - Parameters:
  ///   - statement: A statement that stands on a row; it must outlive the decoder.
  ///   - type: What the rows are read as; errors name it.
  ///   - strategies: How values are stored.
  package convenience init(
    _ statement: borrowing Statement, as type: Any.Type, strategies: MappingStrategies
  ) {
    self.init(DecodedRow(statement.handle, as: type, strategies))
  }

  init(_ content: DecodedRow) {
    self.content = content
    isSingle = content.columns.count == 1
  }

  deinit {
    ticket.end()
  }

  /// Reads the row that the statement stands on.
  ///
  /// - Throws: ``RowDecodingError``, or what the type's own `init(from:)` throws.
  @inlinable  // Benchmark `fetch`.
  package func row<Result: Decodable>(as type: Result.Type) throws -> Result {
    if unsafe directType == ObjectIdentifier(type), let direct = unsafe direct {
      // Stored together with the type that it was made for.
      return try unsafe unsafeDowncast(direct, to: DirectReader<Result>.self).value()
    }
    do {
      if isSingle, let value = try singleValue(type) { return value }
      return try Result(from: self)
    } catch {
      throw named(error)
    }
  }

  /// The value of the only column, if columns have a form of their own for the type.
  @inline(never) @usableFromInline func singleValue<Result: Decodable>(
    _ type: Result.Type
  ) throws -> Result? {
    content.hasOwnForm(type) ? try content.value(type, at: 0) : nil
  }

  /// An error of a type's own code, or another decoder's, as one of the row.
  @inline(never) @usableFromInline func named(_ error: any Error) -> any Error {
    (error as? DecodingError).map { content.error($0, at: nil) } ?? error
  }

  /// Says whether the decoder still reads the columns of a statement's rows.
  func reads(_ statement: borrowing Statement) -> Bool {
    content.handle === statement.handle && content.columns === statement.handle.columnNames
      && thread == currentThread()
  }

  @usableFromInline package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard ticket.isValid else { return KeyedDecodingContainer(containers(of: type).owned) }
    if unsafe containersKey == ObjectIdentifier(type), let containers = unsafe containers {
      // An object is stored together with the identity of the key type that it was made for.
      return unsafe unsafeDowncast(containers, to: DecodingContainers<Key>.self).lent.copy()
    }
    return containers(of: type).lent.copy()
  }

  @usableFromInline package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try content.onlyColumn(for: "an array").unkeyedContainer()
  }

  @usableFromInline package func singleValueContainer() throws -> any SingleValueDecodingContainer {
    self
  }
}

extension RowDecoder {
  /// The containers for a type of keys.
  @inline(never)
  private func containers<Key: CodingKey>(of type: Key.Type) -> DecodingContainers<Key> {
    if let last = unsafe containers, let key = unsafe containersKey { otherContainers[key] = last }
    // As above.
    let known = otherContainers[ObjectIdentifier(type)].map {
      unsafe unsafeDowncast($0, to: DecodingContainers<Key>.self)
    }
    let fitting = known ?? DecodingContainers(content, for: ticket)
    unsafe containers = fitting
    unsafe containersKey = ObjectIdentifier(type)
    return fitting
  }

  /// Stands on rows until ``leave()``; the caller holds the decoder meanwhile.
  func enter() { ticket.set(valid: true) }

  /// Stands on no row any more.
  func leave() { ticket.set(valid: false) }
}
