import SQLiteAssets
import Synchronization

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// An asset, whatever its type of content is.
package protocol AssetValue {
  /// Makes the asset of a store, or one without content.
  init(_ handle: AssetHandle?)
  /// What is to be saved; nil if nothing was set.
  var pending: PendingAsset? { get throws }
  /// The same without what was read, for an object to keep.
  var resting: Self { get }
  /// The same with what others hold of it, for a user.
  var handedOut: Self { get }
}

/// An asset in a store.
package struct AssetHandle: Sendable {
  let store: MagicData
  let id: AssetID
  /// What somebody may have read of it.
  let cache: AssetCache

  /// What the store knows of the asset, if it is there.
  func record(_ found: AssetRecord?) throws -> AssetRecord {
    guard let found else { throw AssetError.noAsset(id) }
    return found
  }
}

/// What is to be saved of an asset. An extension that is nil is left as it is; `""` is none.
package enum PendingAsset: Sendable {
  case empty
  case content(Data, pathExtension: String?)
  /// A copy of a user's file.
  case file(path: String, pathExtension: String?)
  case staged(StagedAsset, pathExtension: String?)
  /// The content of an asset that a store has.
  case stored(AssetHandle, pathExtension: String?)

  /// Says whether it makes a file, and is not what the object has already.
  var isContent: Bool {
    switch self {
    case .empty, .stored(_, nil): false
    case .content, .file, .staged, .stored: true
    }
  }
}

/// Knows what was last read of an asset as long as somebody holds the asset.
///
/// A value like a `String` or a `Data` cannot be referred to weakly. So the value belongs to a holder,
/// each `MagicAsset` that was handed out has the holder, and the object knows the holder weakly.
package final class AssetCache: Sendable {
  /// What was read of a content.
  final class Holder: Sendable {
    private let read = Mutex<(record: AssetRecord, value: LiveValue)?>(nil)

    /// What was read of exactly this content: a replaced one has another file.
    func value(of record: AssetRecord) -> LiveValue? {
      read.withLock { $0?.record == record ? $0?.value : nil }
    }

    func set(_ value: LiveValue, of record: AssetRecord) {
      read.withLock { $0 = (record, value) }
    }
  }

  private struct State {
    weak var holder: Holder?
  }

  private let state = Mutex(State())

  /// The holder that somebody has, or a new one.
  var holder: Holder {
    state.withLock { state in
      if let holder = state.holder { return holder }
      let holder = Holder()
      state.holder = holder
      return holder
    }
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
      case .value: try data.map { .content($0, pathExtension: newExtension) }
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
