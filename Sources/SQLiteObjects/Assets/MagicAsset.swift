public import Essentials
public import SQLiteAssets
import SQLiteCore
import SQLiteMapping

/// A value that is kept in a file of its own, beside the database.
///
///     @MagicValue var photo: MagicAsset<Data>
///     …
///     person.photo = MagicAsset(value: jpeg, pathExtension: "jpeg")
///
/// The file lives and dies with the object's row. Its content is read when it is asked for, and the
/// value made of it is shared by all who hold this asset, or a copy, of one object: as long as one of
/// them does, the file is not read again. The object itself holds no content, so that
/// `person.photo.get()` alone leaves nothing in memory.
///
/// An asset that is assigned to another object becomes a copy with a file of its own when that object
/// is saved.
public struct MagicAsset<Element: AssetConvertible> {
  /// The state of a content.
  enum Origin {
    /// There is none.
    case empty
    /// It was set, and will be saved with the object.
    case value(_LiveValue)
    /// It is in a file of the user's, and will be copied when the object is saved.
    case file(URL)
    /// It was streamed into a store.
    case staged(StagedAsset)
    /// It is in a store.
    case stored(AssetHandle)
  }

  var state: Origin
  /// The new extension; nil leaves it as it is, and `""` is none.
  var newExtension: String?
  /// The content that was read, shared with others who hold this asset.
  var holder: AssetCache.Holder?

  init(_ state: Origin, extension newExtension: String?) {
    self.state = state
    self.newExtension = newExtension
  }

  /// Makes an asset without content.
  public init() {
    self.init(.empty, extension: nil)
  }

  /// Makes an asset of a value.
  ///
  /// - Parameters:
  ///   - value: The content. It becomes bytes when the object is saved.
  ///   - pathExtension: The extension of the file's name, such as `"jpeg"`. In an object that has one
  ///     already nil keeps it, and `""` is none.
  public init(value: Element, pathExtension: String? = nil) {
    self.init(.value(_LiveValue(value)), extension: pathExtension)
  }

  /// Makes an asset of a content that was streamed into a store.
  ///
  ///     film.file = MagicAsset(try await magic.assets.stage(request.body, extension: "mp4"))
  ///
  /// - Parameter staged: The content. Saved in another store, or a second time, it is copied.
  public init(_ staged: StagedAsset) {
    self.init(.staged(staged), extension: nil)
  }

  /// Replaces the content, and keeps the extension.
  ///
  /// - Parameter value: The new content; nil for none.
  public mutating func set(_ value: Element?) {
    state = value.map { .value(_LiveValue($0)) } ?? .empty
    holder = nil
  }

  /// Replaces the content by a copy of a file, which is made when the object is saved: until then the
  /// file must stay.
  ///
  /// The copy shares its content with the file where the file system can do that, and is made in
  /// constant memory elsewhere.
  ///
  /// - Parameters:
  ///   - url: A file. Links are followed. Reading and saving throw
  ///     `AssetError.invalidPath(_:)` for a URL of something else.
  ///   - pathExtension: The new extension; nil is that of the file, if a store may have it.
  public mutating func copy(from url: URL, pathExtension: String? = nil) {
    state = .file(url)
    holder = nil
    let own = url.pathExtension
    newExtension = pathExtension ?? ((try? AssetFileName(extension: own)) == nil ? nil : own)
  }

  /// Sets the extension of the file's name. The file of a saved asset becomes another one.
  ///
  /// - Parameter pathExtension: The extension, such as `"jpeg"`; nil or `""` for none.
  public mutating func setPathExtension(_ pathExtension: String?) {
    newExtension = pathExtension ?? ""
  }
}

extension MagicAsset: Sendable where Element: Sendable {}

// Proof: a live value in it is of the type `Element`, and only a Sendable asset is sent elsewhere.
extension MagicAsset.Origin: Sendable {}

extension MagicAsset: Codable {
  /// Reads the content from outside the store.
  public init(from decoder: any Decoder) throws {
    guard let data = try Data?(from: decoder) else {
      self.init()
      return
    }
    self.init(value: try Element(assetData: data))
  }

  /// Writes the content for use outside the store.
  public func encode(to encoder: any Encoder) throws {
    try data().encode(to: encoder)
  }
}

extension MagicAsset: AssetValue {
  package init(_ handle: AssetHandle?) {
    self.init(handle.map { .stored($0) } ?? .empty, extension: nil)
  }

  package var pending: PendingAsset? {
    get throws {
      switch state {
      case .empty: .empty
      case .value: try data().map { .content($0, pathExtension: newExtension) }
      case .file(let url): .file(path: try MagicAsset.path(of: url), pathExtension: newExtension)
      case .staged(let staged): .staged(staged, pathExtension: newExtension)
      case .stored(let handle): .stored(handle, pathExtension: newExtension)
      }
    }
  }

  package var resting: MagicAsset {
    var copy = self
    copy.holder = nil
    return copy
  }

  package var handedOut: MagicAsset {
    guard case .stored(let handle) = state else { return self }
    var copy = self
    copy.holder = handle.cache.holder
    return copy
  }
}

/// A type that can be the content of a file.
public protocol AssetConvertible {
  /// Makes a value of a file's bytes.
  init(assetData: Data) throws
  /// The bytes of a file.
  var assetData: Data { get throws }
}

extension Data: AssetConvertible {
  /// Takes the bytes.
  public init(assetData: Data) { self = assetData }
  /// The bytes.
  public var assetData: Data { self }
}

extension String: AssetConvertible {
  /// Reads UTF-8.
  public init(assetData: Data) throws {
    guard let text = String(validating: assetData, as: UTF8.self) else {
      throw SQLiteError(.mismatch, "the content of the asset is not valid UTF-8")
    }
    self = text
  }
  /// The text in UTF-8.
  public var assetData: Data { Data(utf8) }
}

extension AssetConvertible where Self: Codable {
  /// Reads JSON.
  public init(assetData: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: assetData)
  }
  /// The value as JSON.
  public var assetData: Data {
    get throws {
      try checkDepth(of: self)
      return try JSONEncoder().encode(self)
    }
  }
}

extension Array: AssetConvertible where Element: Codable {}
extension Set: AssetConvertible where Element: Codable {}
extension Dictionary: AssetConvertible where Key: Codable, Value: Codable {}

/// A `Codable` type whose values may be properties of objects and contents of assets.
public protocol MagicalCodable: Codable, AssetConvertible {}
