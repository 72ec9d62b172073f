import MagicData
import MagicObservation
import Observation
import Synchronization

struct Ship: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var port: String
  @MagicValue var tons: Int
  init() {
    name = ""
    port = ""
    tons = 0
  }
  init(_ name: String, in port: String = "Bergen", tons: Int = 1) {
    self.init()
    self.name = name
    self.port = port
    self.tons = tons
  }
}

/// Counts the changes of an observable property.
@MainActor final class ChangeCounter {
  private(set) var count = 0

  init(_ read: @escaping @MainActor () -> Void) { track(read) }

  private func track(_ read: @escaping @MainActor () -> Void) {
    withObservationTracking {
      read()
    } onChange: { [weak self] in
      // All properties change on the main actor.
      MainActor.assumeIsolated {
        self?.count += 1
        // The property changes in this job, so the next one reads the new value.
        Task { @MainActor in self?.track(read) }
      }
    }
  }
}

/// Counts the statements of a store that contain a text.
final class StatementCounter: Sendable {
  private let statements = Mutex<[String]>([])

  /// Options that make the connections report their statements to this counter.
  var options: Database.Options {
    var options = Database.Options()
    options.prepareConnection = { [self] connection in
      try connection.trace(showsValues: true) { [self] event in
        if case .begins(let sql) = event { statements.withLock { $0.append(sql) } }
      }
    }
    return options
  }

  func count(of text: String) -> Int {
    statements.withLock { $0.count { $0.contains(text) } }
  }
}
