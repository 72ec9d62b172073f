import SQLiteCore

/// Binds the properties of values of one type to the parameters of one statement, in place.
final class DirectWriter<Root> {
  private let columns: [DirectColumn<Root>]
  private let properties: [PlacedProperty]
  private let codings: [PropertyCoding]
  private let strategies: MappingStrategies
  /// The index of the key among the properties.
  private let key: Int
  // Used by one thread at a time: the check for exclusive access would cost as much as binding a property.
  @exclusivity(unchecked) private var count = 0

  /// Prepares to bind; nil if the table has other columns besides.
  init?(_ layout: DirectLayout<Root>, _ table: TablePlan) where Root: DirectRecord {
    columns = layout.columns
    codings = layout.columns.map(\.coding)
    strategies = layout.strategies
    var properties: [PlacedProperty] = []
    for column in layout.columns {
      let name = layout.strategies.keys.column(for: column.name)
      guard let offset = column.offset,
        let position = table.index(ofColumn: name)
      else { return nil }
      properties.append(PlacedProperty(column.kind, offset: offset, position: Int32(position + 1)))
    }
    guard properties.count == table.properties.count,
      let keyColumn = table.index(ofColumn: table.keys[0]),
      let key = properties.firstIndex(where: { $0.position == Int32(keyColumn + 1) })
    else { return nil }
    self.key = key
    self.properties = properties
  }

  /// Binds all properties.
  ///
  /// - Returns: Whether the value has a key; nil if something could not be bound, of which the type's
  ///   own code will say what was wrong.
  @unsafe func bind(
    _ value: UnsafePointer<Root>, _ binder: RowBinder
  ) throws -> Bool? where Root: Record {
    unsafe count += 1
    if unsafe count & (count - 1) == 0 { try compare(unsafe value.pointee) }
    let row = binder.content
    row.beginInPlace()
    // The offsets and kinds are those of the properties, which `DirectLayout` has proven.
    let start = unsafe UnsafeRawPointer(value)
    let isBound = unsafe properties.withUnsafeBufferPointer {
      unsafe binder.handle.bind($0, of: start) { unsafe bindOther($0, start, row) }
    }
    return isBound ? unsafe hasKey(start, row) : nil
  }

  private func bindOther(_ index: Int, _ start: UnsafeRawPointer, _ row: EncodedRow) -> Bool {
    let property = properties[index]
    // The encoders that a value gets for one parameter end with it.
    defer { row.mark.endNumber() }
    return unsafe codings[index].bind(row, property.position, of: start + property.offset)
  }

  private func hasKey(_ start: UnsafeRawPointer, _ row: EncodedRow) -> Bool {
    let property = properties[key]
    let place = unsafe start + property.offset
    switch property.kind {
    case .int64, .int, .double, .bool, .text: return true
    case .optionalInt64: return unsafe place.load(as: Int64?.self) != nil
    case .optionalInt: return unsafe place.load(as: Int?.self) != nil
    case .optionalDouble: return unsafe place.load(as: Double?.self) != nil
    case .optionalBool: return unsafe place.load(as: Bool?.self) != nil
    case .optionalText: return unsafe place.assumingMemoryBound(to: String?.self).pointee != nil
    case .other: return row.isBound(property.position)
    }
  }

  /// Encodes a value by the type's own code.
  @inline(never)
  private func compare(_ value: Root) throws where Root: Record {
    let shape = try RowShape(value, strategies: strategies)
    for column in columns {
      let name = strategies.keys.column(for: column.name)
      guard try column.stored(value, strategies) == shape.value(in: name) else {
        throw DirectRecordError(
          type: "\(Root.self)", property: column.name,
          message: "encode(to:) stores something else than the property's value")
      }
    }
  }
}
