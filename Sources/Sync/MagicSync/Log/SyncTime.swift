import Essentials

/// A hybrid logical time (Kulkarni et al., “Logical Physical Clocks”, 2014): the milliseconds since
/// 1970 in the upper 48 bits, and a counter in the lower 16 bits.
///
/// Each device's times increase, and are later than all times that it has received. A change that
/// was made with knowledge of another one is therefore always later, even if a clock is wrong.
struct SyncTime: Hashable, Comparable, Sendable {
  let bits: Int64

  init(bits: Int64) { self.bits = bits }

  static let zero = SyncTime(bits: 0)
  /// The latest time that a file may contain, in the year 5138. It leaves room to count on.
  static let limit = SyncTime(bits: 100_000_000_000_000 << 16)

  /// Returns the next time of a device.
  ///
  /// - Parameters:
  ///   - last: The latest time that the device has used or received.
  ///   - wall: The device's clock.
  init(after last: SyncTime, wall: Date = Date()) {
    let milliseconds = Int64(exactly: (wall.timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
    let now = min(max(0, milliseconds), SyncTime.limit.bits >> 16) << 16
    bits = max(now, last.bits + 1)
  }

  var date: Date { Date(timeIntervalSince1970: Double(bits >> 16) / 1000) }

  static func < (left: SyncTime, right: SyncTime) -> Bool { left.bits < right.bits }
}

/// The position of an entry in the order that all devices share.
struct EntryID: Hashable, Comparable, Sendable {
  let time: SyncTime
  let device: String

  static func < (left: EntryID, right: EntryID) -> Bool {
    left.time != right.time
      ? left.time < right.time : left.device.utf8.lexicographicallyPrecedes(right.device.utf8)
  }
}

/// The changes that one transaction of one device made to the synced tables.
struct SyncEntry: Sendable {
  let id: EntryID
  /// The number of the last batch that the device knew when it made the changes, by device.
  let base: [String: Int64]
  /// The encoded patch.
  let rows: [UInt8]
}
