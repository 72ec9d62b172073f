import Essentials

/// Values by which it is proven that a property is stored as it is: at least two of each type, so
/// that one of them is another than the prototype's.
enum Examples {
  /// A function, for it is Sendable, and not every type of values is.
  static func values<Property>(of type: Property.Type) -> @Sendable () -> [Property] {
    { all.compactMap { $0 as? Property } + none(of: Property.self) }
  }

  private static func none<Property>(of type: Property.Type) -> [Property] {
    guard let nothing = type as? any ExpressibleByNilLiteral.Type else { return [] }
    return (nothing.init(nilLiteral: ()) as? Property).map { [$0] } ?? []
  }

  private static var all: [Any] {
    integers + [
      0.5, -2.0, Float(0.5), Float(-2), true, false, "a", "Ä b", Data([1]), Data(), [1] as [UInt8],
      [] as [UInt8], Date(timeIntervalSinceReferenceDate: 0),
      Date(timeIntervalSinceReferenceDate: 86_400),
      UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
      UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)), Decimal(1), Decimal(-2),
      Duration.seconds(1), Duration.seconds(-2), URL(string: "a:b") as Any,
      URL(string: "a:c") as Any,
    ]
  }

  private static var integers: [Any] {
    [
      1, -2, Int8(1), Int8(-2), Int16(1), Int16(-2), Int32(1), Int32(-2), Int64(1), Int64(-2),
      UInt(1), UInt(2), UInt8(1), UInt8(2), UInt16(1), UInt16(2), UInt32(1), UInt32(2), UInt64(1),
      UInt64(2),
    ]
  }
}
