import SQLiteCore

public import Essentials

/// A type that can be the content of a file.
public protocol MagicAssetConvert {
  /// Makes a value of a file's bytes.
  init(assetData: Data) throws
  /// The bytes of a file.
  var assetData: Data { get throws }
}

extension Data: MagicAssetConvert {
  /// Takes the bytes.
  public init(assetData: Data) { self = assetData }
  /// The bytes.
  public var assetData: Data { self }
}

extension String: MagicAssetConvert {
  /// Reads UTF-8.
  public init(assetData: Data) throws {
    guard let text = String(validating: assetData, as: UTF8.self) else {
      throw SQLiteError(.mismatch, "the asset is not valid UTF-8")
    }
    self = text
  }
  /// The text in UTF-8.
  public var assetData: Data { Data(utf8) }
}

extension MagicAssetConvert where Self: Codable {
  /// Reads JSON.
  public init(assetData: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: assetData)
  }
  /// The value as JSON.
  public var assetData: Data { get throws { try JSONEncoder().encode(self) } }
}

extension Array: MagicAssetConvert where Element: Codable {}
extension Set: MagicAssetConvert where Element: Codable {}
extension Dictionary: MagicAssetConvert where Key: Codable, Value: Codable {}

/// A `Codable` type whose values may be properties of objects and contents of assets.
public protocol MagicalCodable: Codable, MagicAssetConvert {}
