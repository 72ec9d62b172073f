import SQLiteAssets
import SQLiteCore
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that is kept in a file of its own, beside the database.
///
///     @MagicValue var photo: MagicAsset<Data>
///     …
///     person.photo = MagicAsset(value: jpeg, pathExtension: "jpeg")
///
/// The file lives and dies with the object's row. Its content is read when it is asked for.
public struct MagicAsset<Element: MagicAssetConvert>: Sendable {
  /// Where a content is.
  fileprivate enum State: Sendable {
    /// There is none.
    case empty
    /// It was set, and will be saved with the object.
    case pending(Data, pathExtension: String?)
    /// It is in a store.
    case stored(AssetHandle)
  }

  private let state: State

  /// Makes an asset without content.
  public init() {
    state = .empty
  }

  /// Makes an asset of a value.
  ///
  /// - Parameters:
  ///   - value: The content.
  ///   - pathExtension: The extension of the file's name, such as `"jpeg"`.
  /// - Throws: What the conversion of `value` throws.
  public init(value: Element, pathExtension: String? = nil) throws {
    state = .pending(try value.assetData, pathExtension: pathExtension)
  }

  fileprivate init(_ state: State) {
    self.state = state
  }

  /// The content, read now and compared with its digest; nil if there is none.
  public var value: Element? {
    get throws { try data.map { try Element(assetData: $0) } }
  }

  /// The bytes of the content, read now and compared with their digest; nil if there is none.
  public var data: Data? {
    get throws {
      switch state {
      case .empty: return nil
      case .pending(let data, _): return data
      case .stored(let handle): return try handle.store.assets.data(for: handle.id)
      }
    }
  }

  /// The path of the file; nil before the asset is saved.
  public var path: String? {
    get throws {
      guard case .stored(let handle) = state else { return nil }
      return try handle.store.assets.path(of: handle.id)
    }
  }

  /// The size in bytes, known without reading the file.
  public var size: Int {
    get throws {
      switch state {
      case .empty: return 0
      case .pending(let data, _): return data.count
      case .stored(let handle):
        guard let record = try handle.store.assets.record(handle.id) else {
          throw AssetError.noAsset(handle.id)
        }
        return record.size
      }
    }
  }
}

/// An asset, whatever its type of content is.
package protocol AssetValue {
  /// Makes the asset of a store, or one without content.
  init(_ handle: AssetHandle?)
  /// What is to be saved; nil if nothing was set.
  var pending: PendingAsset? { get throws }
}

/// An asset in a store.
package struct AssetHandle: Sendable {
  let store: MagicData
  let id: AssetID
}

/// What is to be saved of an asset.
package enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// The content of an asset that a store has.
  case stored(AssetHandle)
}

extension MagicAsset: AssetValue {
  package init(_ handle: AssetHandle?) {
    state = handle.map { .stored($0) } ?? .empty
  }

  package var pending: PendingAsset? {
    switch state {
    case .empty: .empty
    case .pending(let data, let pathExtension): .content(data, pathExtension: pathExtension)
    case .stored(let handle): .stored(handle)
    }
  }
}

extension MagicAsset: Codable {
  /// Reads the content from outside the store.
  public init(from decoder: any Decoder) throws {
    guard let data = try Data?(from: decoder) else {
      self.init()
      return
    }
    self.init(.pending(data, pathExtension: nil))
  }

  /// Writes the content for use outside the store.
  public func encode(to encoder: any Encoder) throws {
    try data.encode(to: encoder)
  }
}

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
