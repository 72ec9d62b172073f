import Platform

/// A point in time, by a clock that goes on while the machine sleeps.
///
/// The compiler does not know the size of a `ContinuousClock.Instant`: each copy of one asks its type how to
/// copy it, which was a tenth of the instructions of an empty read (benchmark `call`). So an instant is
/// turned into this once, where an access begins.
struct Moment: Comparable, Sendable {
  private let nanoseconds: Int64

  private init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The present (`clock_gettime`).
  static var now: Moment {
    var time = timespec()
    #if canImport(Darwin)
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    #else
      unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    #endif
    return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The moment that is as far from now as an instant.
  init(_ instant: ContinuousClock.Instant) {
    self = .now + (instant - .now)
  }

  /// A moment some time later, or the last one that can be counted.
  static func + (moment: Moment, duration: Duration) -> Moment {
    let most: Int64 = 1_000_000_000
    let (seconds, attoseconds) = duration.components
    let distance = min(max(seconds, -most), most) * 1_000_000_000 + attoseconds / 1_000_000_000
    return Moment(nanoseconds: moment.nanoseconds + distance)
  }

  /// The time between two moments.
  static func - (later: Moment, earlier: Moment) -> Duration {
    .nanoseconds(later.nanoseconds - earlier.nanoseconds)
  }

  static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

  /// How many nanoseconds have passed since this moment.
  var nanosecondsSince: Int { Int(Moment.now.nanoseconds - nanoseconds) }

  /// How many nanoseconds are left until this moment, 0 if it has passed.
  var nanosecondsLeft: Int { Int(max(0, nanoseconds - Moment.now.nanoseconds)) }
}
