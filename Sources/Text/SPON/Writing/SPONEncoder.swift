public import Essentials

/// An encoder for SPON (Swift Portable Object Notation).
///
///     let text = try SPONEncoder().encodeText(Address(city: "Seabrook", zip: "77586"))
///     // @obj:Address<city$=`Seabrook` zip$=`77586`>
///
/// Each scalar has a mark that specifies its type, and each object contains the name of its type.
/// Members keep the order in which they were encoded. ``OutputFormatting`` can sort the members and
/// omit the type names. <doc:Grammar> defines the language.
///
/// An encoder is a value: changing a copy doesn't affect the original. You can use it from any
/// task.
public struct SPONEncoder: Sendable {
  /// The options that control the format of the text. By default, the text is on one line and
  /// contains type names, and members keep the order in which they were encoded.
  public var outputFormatting: OutputFormatting = []
  /// The strategy for encoding dates. The default is `.text`.
  public var dateEncodingStrategy = DateEncodingStrategy.text
  /// The strategy for encoding `Data`. The default is `.base64`.
  public var dataEncodingStrategy = JSONEncoder.DataEncodingStrategy.base64
  /// The strategy for encoding infinite numbers and NaN. The default is `.literal`.
  public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.literal
  /// The strategy for converting coding keys to the keys of members. The default is
  /// `.useDefaultKeys`.
  public var keyEncodingStrategy = JSONEncoder.KeyEncodingStrategy.useDefaultKeys
  /// Contextual information that the `encode(to:)` of an encoded type can read from its encoder.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The maximum nesting depth of containers. The outermost container has depth 1. Encoding a
  /// deeper value throws `EncodingError` instead of overflowing the stack.
  public var maximumDepth = 512

  /// Creates an encoder with the default strategies, which are lossless.
  public init() {}

  /// Encodes a value as UTF-8 text.
  ///
  /// - Parameter value: The value to encode.
  /// - Returns: The text in UTF-8.
  /// - Throws: `EncodingError` if a strategy rejects a value, if the same key or value is encoded
  ///   twice, or if containers are nested deeper than ``maximumDepth``. Also any error that an
  ///   `encode(to:)` or the closure of a custom strategy throws.
  /// - Complexity: O(*n*) in the length of the text; O(*n* log *n*) with sorted keys.
  public func encode(_ value: some Encodable) throws -> Data {
    Data(try encodeBytes(value))
  }

  /// Encodes a value as a string.
  ///
  /// - Parameter value: The value to encode.
  /// - Returns: The text.
  /// - Throws: `EncodingError` if a strategy rejects a value, if the same key or value is encoded
  ///   twice, or if containers are nested deeper than ``maximumDepth``. Also any error that an
  ///   `encode(to:)` or the closure of a custom strategy throws.
  /// - Complexity: O(*n*) in the length of the text; O(*n* log *n*) with sorted keys.
  public func encodeText(_ value: some Encodable) throws -> String {
    String(decoding: try encodeBytes(value), as: UTF8.self)
  }

  package func encodeBytes(_ value: some Encodable) throws -> [UInt8] {
    let state = EncodingState(self)
    let root = ValueWriter(state: state, node: EncodedNode(), codingPath: [])
    try root.encode(value)
    if let failure = state.failure { throw failure }
    return NodeWriter.text(
      of: .node(root.node), state.scalars, isPretty: outputFormatting.contains(.prettyPrinted),
      sortsKeys: outputFormatting.contains(.sortedKeys))
  }
}

extension SPONEncoder {
  /// The options that control the format of the text.
  public struct OutputFormatting: OptionSet, Sendable {
    /// The options as bits, one bit per option.
    public let rawValue: Int

    /// Creates a set of options from a raw value.
    ///
    /// - Parameter rawValue: The options as bits, one bit per option.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// An option that writes each member and each element on its own line, indented by two spaces
    /// per level.
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    /// An option that sorts the members of each object by the UTF-8 bytes of their keys.
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    /// An option that omits the names of types from objects.
    public static let withoutTypeNames = OutputFormatting(rawValue: 4)
  }

  /// The strategies for encoding dates.
  public enum DateEncodingStrategy: Sendable {
    /// Encodes text such as `2017-10-13T12:00:00.25Z`, with as many digits as needed to decode
    /// exactly the same `Date`. A date outside the years 0000 to 9999, or less than 0.1 ms before
    /// or after 2001-01-01 00:00:00 UTC, becomes a number of seconds since this moment.
    case text
    /// Uses the `Encodable` implementation of `Date`, which writes a number of seconds since
    /// 2001-01-01 00:00:00 UTC.
    case deferredToDate
    /// Encodes a number of seconds since 1970-01-01 00:00:00 UTC. The conversion can round the
    /// date.
    case secondsSince1970
    /// Encodes a number of milliseconds since 1970-01-01 00:00:00 UTC. The conversion can round the
    /// date.
    case millisecondsSince1970
    /// Encodes text such as `2017-10-13T12:00:00Z`, rounded down to whole seconds. A date outside
    /// the years 0000 to 9999 throws `EncodingError`.
    case iso8601
    /// Encodes a date with a closure, which writes the date to the given encoder.
    case custom(@Sendable (Date, any Encoder) throws -> Void)
  }

  /// The strategies for encoding infinite numbers and NaN.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// Encodes infinite numbers and NaN as numbers, written `inf`, `-inf` and `nan`.
    case literal
    /// Throws `EncodingError` for infinite numbers and NaN.
    case `throw`
    /// Encodes infinite numbers and NaN as the given texts.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
}
