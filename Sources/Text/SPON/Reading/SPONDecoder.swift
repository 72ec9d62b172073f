public import Essentials

/// A decoder for SPON (Swift Portable Object Notation).
///
///     let address = try SPONDecoder().decode(Address.self, from: text)
///
/// It reads everything that ``SPONEncoder`` writes, if both have matching strategies. It also reads
/// text of the first implementation of SPON, which this library replaces, if the text has only one
/// possible meaning. Any other text throws ``SPONSyntaxError`` or `DecodingError`, with a reason
/// and, unless a member or element is missing, the offset in the text. No input traps, and parsing
/// takes linear time.
///
/// You can read a number as any type that represents it exactly: an integer as a `Double` and vice
/// versa, but not 2.5 as an `Int`, or 300 as an `Int8`.
public struct SPONDecoder: Sendable {
  /// The strategy for decoding dates. The default is `.text`.
  public var dateDecodingStrategy = DateDecodingStrategy.text
  /// The strategy for decoding `Data`. The default is `.base64`.
  public var dataDecodingStrategy = JSONDecoder.DataDecodingStrategy.base64
  /// The strategy for decoding infinite numbers and NaN. The default is `.literal`.
  public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.literal
  /// The strategy for converting the keys of members to coding keys. The default is
  /// `.useDefaultKeys`.
  public var keyDecodingStrategy = JSONDecoder.KeyDecodingStrategy.useDefaultKeys
  /// Contextual information that the `init(from:)` of a decoded type can read from its decoder.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The maximum nesting depth of containers. The outermost container has depth 1. Deeper text
  /// throws ``SPONSyntaxError``.
  public var maximumDepth = 512
  /// The maximum size of a text in bytes. Longer text throws ``SPONSyntaxError``.
  public var maximumSize = 1 << 30

  /// Creates a decoder with the default strategies and limits.
  public init() {}

  /// Decodes a value from UTF-8 text.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - data: The text in UTF-8.
  /// - Returns: The decoded value.
  /// - Throws: ``SPONSyntaxError`` if the text isn't valid SPON or exceeds a limit of the decoder,
  ///   `DecodingError` if it doesn't contain a value of this type, or any error that an
  ///   `init(from:)` or the closure of a custom strategy throws.
  /// - Complexity: O(*n*) in the length of the text, if the type reads each value once.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decode(type, fromBytes: Array(data))
  }

  /// Decodes a value from a string.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - text: The text.
  /// - Returns: The decoded value.
  /// - Throws: ``SPONSyntaxError`` if the text isn't valid SPON or exceeds a limit of the decoder,
  ///   `DecodingError` if it doesn't contain a value of this type, or any error that an
  ///   `init(from:)` or the closure of a custom strategy throws.
  /// - Complexity: O(*n*) in the length of the text, if the type reads each value once.
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
  /// The strategies for decoding dates.
  public enum DateDecodingStrategy: Sendable {
    /// Decodes ISO 8601 text with any number of fractional digits, text of the first implementation
    /// such as `2017-10-13 12:00:00 +0000`, or a number of seconds since 2001-01-01 00:00:00 UTC.
    case text
    /// Uses the `Decodable` implementation of `Date`, which reads a number of seconds since
    /// 2001-01-01 00:00:00 UTC.
    case deferredToDate
    /// Decodes a number of seconds since 1970-01-01 00:00:00 UTC.
    case secondsSince1970
    /// Decodes a number of milliseconds since 1970-01-01 00:00:00 UTC.
    case millisecondsSince1970
    /// Decodes ISO 8601 text, the same way as ``text``.
    case iso8601
    /// Decodes a date with a closure, which reads the value from the given decoder.
    case custom(@Sendable (any Decoder) throws -> Date)
  }

  /// The strategies for decoding infinite numbers and NaN.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Decodes `inf`, `-inf` and `nan`, written as numbers.
    case literal
    /// Throws `DecodingError` for infinite numbers and NaN.
    case `throw`
    /// Decodes the given texts as infinite numbers and NaN. `inf`, `-inf` and `nan`, written as
    /// numbers, throw `DecodingError`.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
}
