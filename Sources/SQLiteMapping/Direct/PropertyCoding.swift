import SQLiteCore

/// How a property of a type that this layer reads and binds is read and bound where it lies.
@safe struct PropertyCoding: Sendable {
  private typealias Read = @Sendable (DecodedRow, Int32, UnsafeMutableRawPointer) throws -> Void
  private typealias Bind = @Sendable (EncodedRow, Int32, UnsafeRawPointer) throws -> Void

  private let scalar: (any ScalarValue.Type)?
  private let readOther: Read
  private let bindOther: Bind

  /// Finds out how a type is coded.
  init<Property: Codable & SendableMetatype>(of type: Property.Type) {
    scalar = type as? any ScalarValue.Type
    unsafe readOther = { row, column, place in
      unsafe place.assumingMemoryBound(to: Property.self).pointee =
        try row.value(Property.self, at: column)
    }
    unsafe bindOther = { row, parameter, place in
      try row.bind(any: unsafe place.assumingMemoryBound(to: Property.self).pointee, at: parameter)
    }
  }

  /// Reads a column into the property. Returns false if it holds something else.
  @unsafe func read(
    _ row: DecodedRow, _ column: Int32, into place: UnsafeMutableRawPointer
  ) -> Bool {
    if let scalar {
      return row.handle.use { unsafe scalar.read(into: place, from: $0, at: column, row.forms) }
    }
    do {
      try unsafe readOther(row, column, place)
      return true
    } catch {
      // The type's own code will say what is wrong.
      return false
    }
  }

  /// Binds the property to a parameter. Returns false if that is not possible.
  @unsafe func bind(_ row: EncodedRow, _ parameter: Int32, of place: UnsafeRawPointer) -> Bool {
    if let scalar {
      let isBound = row.handle.use { unsafe scalar.bind(place, to: $0, at: parameter, row.forms) }
      if isBound == true { row.mark(parameter) }
      return isBound != nil
    }
    do {
      try unsafe bindOther(row, parameter, place)
      // Nil is what was not marked.
      if !row.isBound(parameter) { try row.handle.bindNull(at: parameter) }
      return true
    } catch {
      return false
    }
  }
}
