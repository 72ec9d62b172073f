import SQLiteAssets
import Synchronization

/// A cache that shares the loaded content of one asset between the `MagicAsset` values that refer
/// to the asset.
///
/// A value like a `String` or `Data` can't be referenced weakly. A ``Holder`` therefore owns the
/// value. Each `MagicAsset` that the program has references the holder strongly, and the object
/// references it weakly.
package final class AssetCache: Sendable {
  /// An owner of the content that was loaded last. `MagicAsset` values share the content by
  /// referencing the same holder.
  final class Holder: Sendable {
    private let read = Mutex<(record: AssetRecord, value: _LiveValue)?>(nil)

    /// Returns the value that was loaded from `record`, or nil if the holder contains no value or
    /// the value of another record. Content that replaces other content has a new record.
    func value(of record: AssetRecord) -> _LiveValue? {
      read.withLock { $0?.record == record ? $0?.value : nil }
    }

    func set(_ value: _LiveValue, of record: AssetRecord) {
      // The previous value is released after the lock, because its `deinit` may access the asset.
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

  /// The holder that the existing `MagicAsset` values share, or a new one if no such value exists.
  var holder: Holder {
    state.withLock { state in
      if let holder = state.holder { return holder }
      let holder = Holder()
      state.holder = holder
      return holder
    }
  }
}
