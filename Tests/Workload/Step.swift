import TestSupport

/// A change of a store, described by its content, so that its result can be predicted.
package enum Step: Hashable, Sendable {
  /// The kinds of content of a store.
  package enum Kind: String, CaseIterable, Sendable {
    case row, record, object, asset, collection
  }

  case set(Kind, String, Int)
  case remove(Kind, String)
  /// Sets all kinds in one transaction.
  case setAll(String, Int)
  case removeAll(String)
  /// Runs the migrations up to a number.
  case migrate(Int)
  case checkpoint

  /// The content of a store: versions by kind and key.
  package typealias State = [String: Int]

  package func apply(to state: inout State) {
    switch self {
    case .set(let kind, let key, let version): state["\(kind) \(key)"] = version
    case .remove(let kind, let key): state["\(kind) \(key)"] = nil
    case .setAll(let key, let version):
      for kind in Kind.allCases { state["\(kind) \(key)"] = version }
    case .removeAll(let key):
      for kind in Kind.allCases { state["\(kind) \(key)"] = nil }
    case .migrate(let count): state["migrations"] = max(count, state["migrations"] ?? 0)
    case .checkpoint: break
    }
  }

  /// Returns the state after this step.
  package func applied(to state: State) -> State {
    var state = state
    apply(to: &state)
    return state
  }

  /// Returns the states that are possible once this step has begun. Each migration is a separate
  /// transaction.
  package func outcomes(from state: State) -> [State] {
    guard case .migrate(let count) = self else { return [state, applied(to: state)] }
    let made = state["migrations"] ?? 0
    return [state] + (made..<max(made, count)).map { Step.migrate($0 + 1).applied(to: state) }
  }

  /// Returns a step that is the same for the same numbers.
  ///
  /// - Parameters:
  ///   - process: The process that makes the step. Each process has its own keys.
  ///   - number: The number of the step, from 1.
  package static func random(process: Int, number: Int) -> Step {
    var random = SplitMix64(seed: UInt64(process) << 32 | UInt64(number))
    let key = "p\(process)s\(random.next() % 12)"
    let kind = Kind.allCases[Int(random.next() % UInt64(Kind.allCases.count))]
    switch random.next() % 20 {
    case 0...10: return .set(kind, key, number)
    case 11...13: return .remove(kind, key)
    case 14...16: return .setAll(key, number)
    case 17: return .removeAll(key)
    case 18: return .checkpoint
    default: return process == 0 ? .migrate(min(20, 1 + number / 40)) : .checkpoint
    }
  }
}
