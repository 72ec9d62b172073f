public import Essentials

/// Writes any `Encodable` value as SPON: Swift Portable Object Notation.
///
///     let text = try SPONEncoder().encodeText(Address(city: "Seabrook", zip: "77586"))
///     // @obj:Address<city$=`Seabrook` zip$=`77586`>
///
/// Each scalar carries a mark that says what it is, each object the name of its type, and members
/// keep the order in which they were encoded. The grammar stands in <doc:Grammar>.
///
/// An encoder is a value: changing a copy changes nothing elsewhere, and any task may use it.
public struct SPONEncoder: Sendable {
  /// How the text looks.
  public var outputFormatting: OutputFormatting = []
  /// How dates are written.
  public var dateEncodingStrategy = DateEncodingStrategy.text
  /// How `Data` is written.
  public var dataEncodingStrategy = JSONEncoder.DataEncodingStrategy.base64
  /// How numbers that are infinite or not a number are written.
  public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.literal
  /// How keys are written.
  public var keyEncodingStrategy = JSONEncoder.KeyEncodingStrategy.useDefaultKeys
  /// Values for the `encode(to:)` of the types.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// How deep containers may be nested, the outermost being at depth 1. Deeper values throw, rather
  /// than overflow the stack.
  public var maximumDepth = 512

  /// An encoder with the defaults, which lose nothing.
  public init() {}

  /// Writes a value as UTF-8.
  ///
  /// - Parameter value: What to write.
  /// - Throws: `EncodingError` that names what cannot be written, or what the value's own
  ///   `encode(to:)` throws.
  /// - Complexity: O(*n*) in the length of the text; O(*n* log *n*) with sorted keys.
  public func encode(_ value: some Encodable) throws -> Data {
    Data(try encodeBytes(value))
  }

  /// Writes a value as text.
  ///
  /// - Parameter value: What to write.
  /// - Throws: `EncodingError` that names what cannot be written, or what the value's own
  ///   `encode(to:)` throws.
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
  /// How the text looks.
  public struct OutputFormatting: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Makes a set of bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Each member and each element stands in a line of its own.
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    /// The members of each object are in the order of their keys' UTF-8 bytes.
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    /// Objects do not name their types.
    public static let withoutTypeNames = OutputFormatting(rawValue: 4)
  }

  /// How dates are written.
  public enum DateEncodingStrategy: Sendable {
    /// As `2017-10-13T12:00:00.25Z`, with as many digits as reading the very same `Date` back needs;
    /// outside the years 0000 to 9999 as seconds since 2001.
    case text
    /// As `Date` encodes itself: a number of seconds since 2001.
    case deferredToDate
    /// As a number of seconds since 1970, which rounds.
    case secondsSince1970
    /// As a number of milliseconds since 1970, which rounds.
    case millisecondsSince1970
    /// As text such as `2017-10-13T12:00:00Z`, without fractions of a second.
    case iso8601
    /// As a function encodes it.
    case custom(@Sendable (Date, any Encoder) throws -> Void)
  }

  /// How numbers that are infinite or not a number are written.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// As `inf`, `-inf` and `nan` with the mark of a number.
    case literal
    /// Not at all: encoding throws.
    case `throw`
    /// As text.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
}
