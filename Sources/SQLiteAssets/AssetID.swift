import ExactText
public import SQLiteCore

/// The lasting identity of an asset: 128 random bits.
///
/// It is made by the store and never from a user's text. Its description, also its form in the
/// database and in JSON, is 32 lower-case hexadecimal digits.
public struct AssetID: Hashable, Sendable {
  private let bits: UInt128

  /// Makes an id that no asset has.
  package init() {
    bits = .random(in: 0...UInt128.max)
  }
}

extension AssetID: LosslessStringConvertible {
  /// Makes an id from its description, or nil from any other text.
  ///
  /// - Parameter description: 32 lower-case hexadecimal digits.
  public init?(_ description: String) {
    guard let bits = UInt128(hexadecimal: Substring(description)) else { return nil }
    self.bits = bits
  }

  /// The 32 lower-case hexadecimal digits.
  public var description: String { bits.hexadecimal }
}

extension AssetID: Bindable, ColumnValue {
  /// The description, as TEXT.
  public var databaseValue: Value { .text(description) }

  /// Reads a description.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .text(let text) = databaseValue, let id = AssetID(text) else {
      throw databaseValue.mismatch(expected: AssetID.self)
    }
    self = id
  }
}

extension AssetID: Codable {
  /// Decodes a description.
  ///
  /// - Parameter decoder: Where to read it.
  /// - Throws: `DecodingError` for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = AssetID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the id of an asset is 32 lower-case hexadecimal digits")
    }
    self = id
  }

  /// Encodes the description.
  ///
  /// - Parameter encoder: Where to write it.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
