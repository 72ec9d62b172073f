public import Essentials

/// A type whose stored values sort as its values do, so that filters may compare them.
///
/// Texts sort by their bytes. Types whose stored form does not sort, such as `Decimal`, URLs and
/// whatever becomes JSON, do not conform. An enumeration with a raw value of such a type may:
///
///     enum Level: Int, Codable, MagicComparable { case low, high }
public protocol MagicComparable {}

extension Int: MagicComparable {}
extension Int8: MagicComparable {}
extension Int16: MagicComparable {}
extension Int32: MagicComparable {}
extension Int64: MagicComparable {}
extension UInt: MagicComparable {}
extension UInt8: MagicComparable {}
extension UInt16: MagicComparable {}
extension UInt32: MagicComparable {}
extension UInt64: MagicComparable {}
extension Double: MagicComparable {}
extension Float: MagicComparable {}
extension String: MagicComparable {}
extension Date: MagicComparable {}
extension UUID: MagicComparable {}
