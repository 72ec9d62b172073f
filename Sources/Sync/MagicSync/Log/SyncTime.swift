import Essentials
import SQLiteCore

/// A hybrid logical time (Kulkarni et al., “Logical Physical Clocks”, 2014): the milliseconds since
/// 1970 in the upper 48 bits, and a counter in the lower 16 bits.
///
/// Each device's times increase, and are later than all times that it has received. A change that
/// was made with knowledge of another one is therefore always later, even if a clock is wrong.
struct SyncTime: Hashable, Comparable, Sendable {
  let bits: Int64

  init(bits: Int64) { self.bits = bits }

  static let zero = SyncTime(bits: 0)
  /// The latest time that a file may contain, in the year 5138.
  static let limit = SyncTime(bits: 100_000_000_000_000 << 16)
  /// The latest time that a clock may show, in the year 3554. Devices whose clocks are wrong count
  /// on from it without reaching ``limit``.
  private static let lastWall = SyncTime(bits: 50_000_000_000_000 << 16)

  /// Returns the next time of a device.
  ///
  /// - Parameters:
  ///   - last: The latest time that the device has used or received.
  ///   - wall: The device's clock.
  init(after last: SyncTime, wall: Date = Date()) {
    let milliseconds = Int64(exactly: (wall.timeIntervalSince1970 * 1000).rounded(.down)) ?? 0
    let now = min(max(0, milliseconds), SyncTime.lastWall.bits >> 16) << 16
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

/// The numbers of batches, keys and days, and the times, in the tables and files of a sync.
enum SyncNumber {
  /// Returns a number that was read, which isn't negative and leaves room to count on.
  ///
  /// - Throws: `SQLiteError` with `ResultCode.corrupt` for any other number.
  static func checked(_ number: Int64) throws(SQLiteError) -> Int64 {
    guard (0...Int64.max - 1 << 33).contains(number) else {
      throw SQLiteError(.corrupt, "a number in the tables of the sync is corrupt")
    }
    return number
  }
}
