import ExactText
public import SQLiteCore

/// The permanent identity of an asset, consisting of 128 random bits.
///
/// The store generates it. Its description, which is also its form in the database and in JSON,
/// consists of 32 lowercase hexadecimal digits.
public struct AssetID: Hashable, Sendable {
  private let bits: UInt128

  /// Creates a new random id.
  package init() {
    bits = .random(in: 0...UInt128.max)
  }
}

extension AssetID: LosslessStringConvertible {
  /// Creates an id from its description. Returns nil for any other text.
  ///
  /// - Parameter description: 32 lowercase hexadecimal digits.
  public init?(_ description: String) {
    guard let bits = UInt128(hexadecimal: Substring(description)) else { return nil }
    self.bits = bits
  }

  /// The id as 32 lowercase hexadecimal digits.
  public var description: String { bits.hexadecimal }
}

extension AssetID: Bindable, ColumnValue {
  /// The 32 hexadecimal digits of the id as a TEXT value.
  public var databaseValue: Value { .text(description) }

  /// Creates an id from a TEXT value, as ``databaseValue`` returns it.
  ///
  /// - Parameter databaseValue: A TEXT value with the description of an id.
  /// - Throws: `SQLiteError` for any other value.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .text(let text) = databaseValue, let id = AssetID(text) else {
      throw databaseValue.mismatch(expected: AssetID.self)
    }
    self = id
  }
}

extension AssetID: Codable {
  /// Creates an id by decoding a string of 32 lowercase hexadecimal digits.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` if the value isn't the description of an id.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = AssetID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an asset ID must have 32 lowercase hexadecimal digits")
    }
    self = id
  }

  /// Encodes the id as a string of 32 lowercase hexadecimal digits.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error that the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
