public import Essentials
public import SQLiteAssets
import SQLiteCore
import SQLiteMapping

/// A value that is stored as an asset: in its own file next to the database or, if it is smaller
/// than the store's `minimumFileSize`, in a database row of its own.
///
///     @MagicValue var photo: MagicAsset<Data>
///     …
///     person.photo = MagicAsset(value: jpeg, pathExtension: "jpeg")
///
/// The file is deleted together with the object's row. The content is read on demand. All copies of
/// an object's asset share the value that was read: as long as one of them exists, the file isn't
/// read again. The object itself doesn't retain the content, so `person.photo.get()` alone leaves
/// nothing in memory.
///
/// If you assign an asset to another object, saving that object creates a copy with its own file.
public struct MagicAsset<Element: AssetConvertible> {
  /// The source from which an asset's content is read or saved.
  enum Origin {
    /// The asset has no content.
    case empty
    /// The content is a value that will be saved with the object.
    case value(_LiveValue)
    /// The content is a file that belongs to the user. Saving the object copies it.
    case file(URL)
    /// The content was streamed into a store.
    case staged(StagedAsset)
    /// The content is saved in a store.
    case stored(AssetHandle)
  }

  var state: Origin
  /// The file extension to save. Nil leaves the extension unchanged, and `""` removes it.
  var newExtension: String?
  /// The holder of the value that was read, shared with the other copies of the asset. Nil in the
  /// copy that the object stores, and for content that isn't in a store yet.
  var holder: AssetCache.Holder?

  init(_ state: Origin, extension newExtension: String?) {
    self.state = state
    self.newExtension = newExtension
  }

  /// Creates an asset without content.
  public init() {
    self.init(.empty, extension: nil)
  }

  /// Creates an asset with a value as its content.
  ///
  /// - Parameters:
  ///   - value: The content. It is converted to bytes when the object is saved.
  ///   - pathExtension: The extension of the file name, such as `"jpeg"`. If it is nil and you
  ///     assign the asset to a property that already has content, the existing extension is
  ///     retained. Pass `""` for no extension.
  public init(value: Element, pathExtension: String? = nil) {
    self.init(.value(_LiveValue(value)), extension: pathExtension)
  }

  /// Creates an asset with content that was streamed into a store.
  ///
  ///     film.file = MagicAsset(try await magic.assets.stage(request.body, extension: "mp4"))
  ///
  /// - Parameter staged: The content. It is copied if you save it in another store, or more than
  ///   once.
  public init(_ staged: StagedAsset) {
    self.init(.staged(staged), extension: nil)
  }

  /// Replaces the content and retains the extension.
  ///
  /// - Parameter value: The new content, or nil for no content.
  public mutating func set(_ value: Element?) {
    state = value.map { .value(_LiveValue($0)) } ?? .empty
    holder = nil
  }

  /// Replaces the content with a copy of a file. The copy is made when the object is saved, so the
  /// file must exist until then.
  ///
  /// On file systems with copy-on-write, the copy shares its blocks with the file. On others, it is
  /// made in constant memory.
  ///
  /// - Parameters:
  ///   - url: A file URL. Symbolic links are followed. For any other URL, reading and saving throw
  ///     `AssetError.invalidPath(_:)`.
  ///   - pathExtension: The new extension. If it is nil, the extension of the file is used,
  ///     provided that it is valid in a store.
  public mutating func copy(from url: URL, pathExtension: String? = nil) {
    state = .file(url)
    holder = nil
    let own = url.pathExtension
    newExtension = pathExtension ?? ((try? AssetFileName(extension: own)) == nil ? nil : own)
  }

  /// Sets the extension of the file name. For a saved asset, the next save replaces the file with
  /// one of the new name.
  ///
  /// - Parameter pathExtension: The extension, such as `"jpeg"`, or nil or `""` for none.
  public mutating func setPathExtension(_ pathExtension: String?) {
    newExtension = pathExtension ?? ""
  }
}

extension MagicAsset: Sendable where Element: Sendable {}

// Proof: its live value is of the type `Element`, and an asset leaves its isolation domain only if
// it is Sendable.
extension MagicAsset.Origin: Sendable {}

extension MagicAsset: Codable {
  /// Creates an asset by decoding the bytes of its content, for example from JSON. Null is decoded
  /// as an asset without content.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: Any error of the decoder, or of the conversion from bytes.
  public init(from decoder: any Decoder) throws {
    guard let data = try Data?(from: decoder) else {
      self.init()
      return
    }
    self.init(value: try Element(assetData: data))
  }

  /// Encodes the bytes of the content, for example as JSON, or null if there is no content. Reads
  /// the file of a saved asset, blocking the thread.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: `AssetError`, `SQLiteError` or ``MagicError`` if the content can't be read; any
  ///   error of the encoder, or of the conversion of an unsaved value to bytes.
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

  package var withoutContent: MagicAsset {
    var copy = self
    copy.holder = nil
    return copy
  }

  package var sharingContent: MagicAsset {
    guard case .stored(let handle) = state else { return self }
    var copy = self
    copy.holder = handle.cache.holder
    return copy
  }
}

/// A type with values that can be the content of an asset.
///
/// `Data` and `String` conform, and so do arrays, sets and dictionaries of `Codable` values. To use
/// another `Codable` type, declare its conformance: the library then stores the values as JSON.
public protocol AssetConvertible: SendableMetatype {
  /// Creates a value from the bytes of an asset.
  ///
  /// - Parameter assetData: The content of the asset.
  /// - Throws: An error if the bytes don't represent a value of the type.
  init(assetData: Data) throws
  /// The bytes to store in an asset.
  ///
  /// - Throws: An error if the value can't be converted to bytes.
  var assetData: Data { get throws }
}

extension Data: AssetConvertible {
  /// Creates a value with the bytes of an asset.
  ///
  /// - Parameter assetData: The content of the asset.
  public init(assetData: Data) { self = assetData }
  /// The bytes to store in an asset: the value itself.
  public var assetData: Data { self }
}

extension String: AssetConvertible {
  /// Creates a string from UTF-8.
  ///
  /// - Parameter assetData: The content of the asset.
  /// - Throws: `SQLiteError` with `ResultCode.mismatch` if the bytes aren't valid UTF-8.
  public init(assetData: Data) throws {
    guard let text = String(validating: assetData, as: UTF8.self) else {
      throw SQLiteError(.mismatch, "the content of the asset is not valid UTF-8")
    }
    self = text
  }
  /// The bytes to store in an asset: the text as UTF-8.
  public var assetData: Data { Data(utf8) }
}

extension AssetConvertible where Self: Codable {
  /// Creates a value by decoding JSON.
  ///
  /// - Parameter assetData: The content of the asset, which is JSON.
  /// - Throws: `DecodingError` if the bytes aren't valid JSON or don't contain a value of the type,
  ///   or any error that the type's `init(from:)` throws.
  public init(assetData: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: assetData)
  }
  /// The bytes to store in an asset: the value as JSON.
  ///
  /// - Throws: `EncodingError` if the value can't be encoded as JSON or is nested more than 512
  ///   levels deep, or any error that the value's `encode(to:)` throws.
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

/// A `Codable` type with values that can be the content of an asset. The asset contains a value as
/// JSON.
///
/// The protocol has no requirements of its own. Conform to it instead of to both `Codable` and
/// ``AssetConvertible``.
public protocol MagicalCodable: Codable, AssetConvertible {}
