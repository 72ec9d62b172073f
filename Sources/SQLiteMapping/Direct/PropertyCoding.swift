import Essentials
import SQLiteCore

/// How a property of any type is read and bound where it lies.
@safe struct PropertyCoding: Sendable {
  /// Reads a column into the property.
  let read: @Sendable (DecodedRow, Int32, UnsafeMutableRawPointer) throws -> Void
  /// Binds the property to a parameter.
  let bind: @Sendable (EncodedRow, Int32, UnsafeRawPointer) throws -> Void

  /// The coding of a type.
  static func coding<Property: Codable & SendableMetatype>(of type: Property.Type) -> PropertyCoding
  {
    if type == Data.self { return data }
    let canBeNil = type is any ExpressibleByNilLiteral.Type
    return unsafe PropertyCoding(
      read: { row, column, place in
        let place = unsafe place.assumingMemoryBound(to: Property.self)
        if canBeNil, row.handle.isNull(at: column), let none = none(of: Property.self) {
          unsafe place.pointee = none
        } else {
          unsafe place.pointee = try row.value(Property.self, at: column)
        }
      },
      bind: { row, parameter, place in
        let place = unsafe place.assumingMemoryBound(to: Property.self)
        try row.bind(any: unsafe place.pointee, at: parameter)
      })
  }

  /// The coding of `Data`, which is spared to ask what type it is.
  private static let data = unsafe PropertyCoding(
    read: { row, column, place in
      unsafe place.assumingMemoryBound(to: Data.self).pointee = try row.data(at: column)
    },
    bind: { row, parameter, place in
      try row.bind(unsafe place.assumingMemoryBound(to: Data.self).pointee, at: parameter)
    })

  private static func none<Property>(of type: Property.Type) -> Property? {
    let nothing = type as? any ExpressibleByNilLiteral.Type
    return nothing?.init(nilLiteral: ()) as? Property
  }
}
