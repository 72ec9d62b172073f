import Platform

/// A point in time on a clock that continues while the machine sleeps.
///
/// The compiler doesn't know the size of `ContinuousClock.Instant`, so copying one goes through its
/// value witness. These copies were a tenth of the instructions of an empty read (benchmark
/// `call`). An instant is therefore converted to a `Moment` once, when an access begins.
struct Moment: Comparable, Sendable {
  private let nanoseconds: Int64

  private init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The current moment (`clock_gettime`).
  static var now: Moment {
    var time = timespec()
    #if canImport(Darwin)
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    #else
      unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    #endif
    return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Creates the moment that corresponds to an instant of the continuous clock.
  init(_ instant: ContinuousClock.Instant) {
    self = .now + (instant - .now)
  }

  /// Returns the moment that is `duration` after `moment`. Durations are clamped to plus or minus a
  /// billion seconds, so the sum can't overflow.
  static func + (moment: Moment, duration: Duration) -> Moment {
    let most: Int64 = 1_000_000_000
    let (seconds, attoseconds) = duration.components
    let distance = min(max(seconds, -most), most) * 1_000_000_000 + attoseconds / 1_000_000_000
    return Moment(nanoseconds: moment.nanoseconds + distance)
  }

  /// Returns the time between two moments.
  static func - (later: Moment, earlier: Moment) -> Duration {
    .nanoseconds(later.nanoseconds - earlier.nanoseconds)
  }

  static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The number of nanoseconds since this moment.
  var nanosecondsSince: Int { Int(Moment.now.nanoseconds - nanoseconds) }

  /// The number of nanoseconds from now until this moment, or 0 if it has passed.
  var nanosecondsLeft: Int { Int(max(0, nanoseconds - Moment.now.nanoseconds)) }
}
