import Synchronization

/// A request, which any thread can make, that one access end soon.
///
/// A cancelled task makes the request (``Database/cancelling(_:_:_:)``), and so do `interrupt()`
/// and `suspend()`. While a statement runs, SQLite's progress handler checks whether the request
/// has been made, and interrupts the statement in this case (``Interruption``).
final class Cancellation: Sendable {
  /// The reason why an access must end.
  enum Reason: UInt8 {
    case task = 1
    case interrupt
    case suspension
    /// The access takes too long for its task's thread.
    case length

    var message: String {
      switch self {
      case .task: "the task was cancelled"
      case .interrupt: "the access was interrupted"
      case .suspension: SQLiteError.suspensionMessage
      case .length: "the read takes too long for the thread of its task"
      }
    }
  }

  private let requested = Atomic<UInt8>(0)
  /// The number under which the access waits in the scheduler's queue, or 0 if it hasn't waited.
  /// Written under the scheduler's lock.
  let ticket = Atomic<UInt64>(0)

  /// The reason why the access must end, or nil.
  var reason: Reason? { Reason(rawValue: requested.load(ordering: .relaxed)) }

  var isRequested: Bool { requested.load(ordering: .relaxed) != 0 }

  /// Requests that the access end. An earlier request keeps its reason.
  func request(_ reason: Reason) {
    _ = requested.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
  }
}
