import SQLiteAssets
import Synchronization

/// The content that was last read of an asset, as long as somebody holds the asset.
///
/// A value like a `String` or a `Data` cannot be referred to weakly. So the value belongs to a holder,
/// each `MagicAsset` that was handed out has the holder, and the object knows the holder weakly.
package final class AssetCache: Sendable {
  /// A content that was read.
  final class Holder: Sendable {
    private let read = Mutex<(record: AssetRecord, value: _LiveValue)?>(nil)

    /// The value of exactly this content: a new content has another record.
    func value(of record: AssetRecord) -> _LiveValue? {
      read.withLock { $0?.record == record ? $0?.value : nil }
    }

    func set(_ value: _LiveValue, of record: AssetRecord) {
      // The former value is released outside of the lock: its deinit may ask for the asset.
      _ = read.withLock { read in
        let former = read
        read = (record, value)
        return former
      }
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
