import SQLiteCore

/// Reads rows of one statement into the properties of a type, in place.
final class DirectReader<Root: Decodable>: InPlaceReader<Root> {
  private let row: DecodedRow
  private let prototype: Root
  private let columns: [DirectColumn<Root>]
  private let properties: [PlacedProperty]
  private let codings: [PropertyCoding]
  // Used by one thread at a time: the check for exclusive access would cost as much as reading a column.
  @exclusivity(unchecked) private var count = 0

  /// Prepares to read; nil if the statement lacks a column.
  init?(_ layout: DirectLayout<Root>, _ reader: RowReader) where Root: DirectRecord {
    row = reader.content
    prototype = layout.prototype
    columns = layout.columns
    codings = layout.columns.map(\.coding)
    var properties: [PlacedProperty] = []
    for column in layout.columns {
      let name = layout.strategies.keys.column(for: column.name)
      guard let offset = column.offset, let position = row.columns.position(of: name) else {
        return nil
      }
      properties.append(PlacedProperty(column.kind, offset: offset, position: Int32(position)))
    }
    self.properties = properties
  }

  /// Reads the row that the statement stands on; one that is not as expected by the type's own code.
  override func value(_ reader: RowReader) throws -> Root {
    var value = prototype
    // The offsets and kinds are those of the properties, which `DirectLayout` has proven.
    let isRead = unsafe withUnsafeMutablePointer(to: &value) { pointer in
      let start = UnsafeMutableRawPointer(pointer)
      return unsafe properties.withUnsafeBufferPointer {
        unsafe reader.handle.read($0, into: start) { unsafe readOther($0, start) }
      }
    }
    guard isRead else { return try decode(reader) }
    unsafe count += 1
    if unsafe count & (count - 1) == 0 { try compare(value, reader) }
    return value
  }

  private func readOther(_ index: Int, _ start: UnsafeMutableRawPointer) -> Bool {
    let property = properties[index]
    // The decoders that a type gets for one column end with it.
    defer { row.mark.endNumber() }
    return unsafe codings[index].read(row, property.position, into: start + property.offset)
  }

  /// Reads the row by the type's own code.
  @inline(never)
  private func decode(_ reader: RowReader) throws -> Root {
    do {
      let decoder = reader.begin()
      defer { reader.end() }
      return try Root(from: decoder)
    } catch {
      throw reader.named(error)
    }
  }

  /// Reads the row once more, by the type's own code.
  @inline(never)
  private func compare(_ value: Root, _ reader: RowReader) throws {
    let other = try decode(reader)
    for column in columns {
      guard try column.stored(value, row.strategies) == column.stored(other, row.strategies) else {
        throw DirectRecordError(
          type: "\(Root.self)", property: column.name,
          message: "init(from:) makes something else of a row than what its column holds")
      }
    }
  }
}

extension RowReader {
  /// Reads rows in place from now on, if the statement has all columns.
  func readInPlace<Root: DirectRecord>(_ type: Root.Type, _ connection: Connection) throws {
    guard !isPrepared else { return }
    readInPlace(by: try DirectReader(connection.directLayout(of: type), self))
  }
}
