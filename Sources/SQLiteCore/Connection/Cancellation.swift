import Synchronization

/// A request, from any thread, that one access end soon.
///
/// A cancelled task makes it (``Database/cancelling(_:_:_:)``). While a statement runs, SQLite's progress handler looks for
/// it (``Interruption``) and stops the statement.
final class Cancellation: Sendable {
  /// The origin of the request.
  enum Reason: UInt8 {
    case task = 1
    case interrupt
    case suspension
    /// It takes longer than the thread of a task may be kept.
    case length

    var message: String {
      switch self {
      case .task: "the task was cancelled"
      case .interrupt: "the access was interrupted"
      case .suspension: SQLiteError.suspensionMessage
      case .length: "the access takes too long for the thread of its task"
      }
    }
  }

  private let requested = Atomic<UInt8>(0)
  /// The access's number in the queue, 0 before it waits. Written under the scheduler's lock.
  let ticket = Atomic<UInt64>(0)

  /// Why the access must end, if it must.
  var reason: Reason? { Reason(rawValue: requested.load(ordering: .relaxed)) }

  var isRequested: Bool { requested.load(ordering: .relaxed) != 0 }

  /// Makes the request, unless one was made before.
  func request(_ reason: Reason) {
    _ = requested.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
  }
}
