public import Essentials

/// Reads `Decodable` values from SPON: Swift Portable Object Notation.
///
///     let address = try SPONDecoder().decode(Address.self, from: text)
///
/// It reads what ``SPONEncoder`` writes, and what the first implementation of SPON wrote wherever that
/// can be read in one way only. Anything else is refused with its offset and the reason; no input traps,
/// and none takes more than linear time.
///
/// A number is read as any type that holds it exactly: an integer as a `Double` and the other way
/// round, but not 2.5 as an `Int`, nor 300 as an `Int8`.
public struct SPONDecoder: Sendable {
  /// How dates are read.
  public var dateDecodingStrategy = DateDecodingStrategy.text
  /// How `Data` is read.
  public var dataDecodingStrategy = JSONDecoder.DataDecodingStrategy.base64
  /// Which texts are read as infinite numbers or as no number.
  public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.literal
  /// How keys are read.
  public var keyDecodingStrategy = JSONDecoder.KeyDecodingStrategy.useDefaultKeys
  /// Values for the `init(from:)` of the types.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// How deep containers may be nested, the outermost being at depth 1.
  public var maximumDepth = 512
  /// How many bytes a text may have; at most 2³¹ - 2.
  public var maximumSize = 1 << 30

  /// A decoder with the defaults.
  public init() {}

  /// Reads a value from UTF-8.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - data: The text.
  /// - Throws: ``SPONSyntaxError`` if the text is not SPON, `DecodingError` if it is not such a value,
  ///   or what the type's own `init(from:)` throws.
  /// - Complexity: O(*n*) in the length of the text, if the type reads each value once.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decode(type, fromBytes: Array(data))
  }

  /// Reads a value from text.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - text: The text.
  /// - Throws: ``SPONSyntaxError`` if the text is not SPON, `DecodingError` if it is not such a value,
  ///   or what the type's own `init(from:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    try decode(type, fromBytes: Array(text.utf8))
  }

  package func decode<Value: Decodable>(
    _ type: Value.Type, fromBytes bytes: [UInt8]
  ) throws -> Value {
    let document = try Document(bytes, maximumDepth: maximumDepth, maximumSize: maximumSize)
    return try ValueReader(state: DecodingState(document, self), token: 0).read(type)
  }
}

extension SPONDecoder {
  /// How dates are read.
  public enum DateDecodingStrategy: Sendable {
    /// From the text of a date, ISO 8601 with any fraction or the first implementation's
    /// `2017-10-13 12:00:00 +0000`, or from seconds since 2001.
    case text
    /// As `Date` decodes itself: from a number of seconds since 2001.
    case deferredToDate
    /// From a number of seconds since 1970.
    case secondsSince1970
    /// From a number of milliseconds since 1970.
    case millisecondsSince1970
    /// From text, as ``text``.
    case iso8601
    /// As a function decodes it.
    case custom(@Sendable (any Decoder) throws -> Date)
  }

  /// Which texts are read as infinite numbers or as no number.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// The words `inf`, `-inf` and `nan` of a number.
    case literal
    /// Nothing: decoding throws.
    case `throw`
    /// Other words, in a text.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
}
