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
  public var dataEncodingStrategy = DataEncodingStrategy.base64
  /// How numbers that are infinite or not a number are written.
  public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.literal
  /// How keys are written.
  public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
  /// What the values' own `encode(to:)` may ask for.
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
    let output = EncodingOutput(state, path: [], depth: 0)
    try output.encodeRoot(value)
    let bytes = try output.finished()
    guard !outputFormatting.isDisjoint(with: [.prettyPrinted, .sortedKeys]) else { return bytes }
    return try Formatter(
      isPretty: outputFormatting.contains(.prettyPrinted),
      sortsKeys: outputFormatting.contains(.sortedKeys)
    ).format(bytes, maximumDepth: maximumDepth)
  }
}
