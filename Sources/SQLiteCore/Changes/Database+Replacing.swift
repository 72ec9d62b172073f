import Synchronization

/// How often the whole content of a file was replaced in this process, so that what was read before is
/// known to be of another content.
package final class ContentGeneration: Sendable {
  private let count = Atomic<Int>(0)

  /// The number of replacements so far.
  package var current: Int { count.load(ordering: .acquiring) }

  fileprivate func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}

/// What layers above do around the replacement of a file's whole content.
typealias Replacements = Registry<
  @Sendable (Connection, Connection, () throws -> Void) throws -> Void
>

extension Replacements {
  /// Runs `replace` within all bodies.
  func run(
    _ source: Connection, _ target: Connection, _ replace: () throws -> Void
  ) throws {
    let bodies = bodies
    func run(from index: Int) throws {
      guard index < bodies.count else { return try replace() }
      try bodies[index](source, target) { try run(from: index + 1) }
    }
    try run(from: 0)
  }
}

extension Database {
  /// How often the content of this file was replaced.
  package var content: ContentGeneration { shared.content }

  /// Has `body` run around each replacement of the whole content of this file by a database of this
  /// process.
  ///
  /// - Parameter body: Gets the connection that the content comes from, the one that it goes to, which is
  ///   outside any transaction, and what replaces the content: it calls that once.
  /// - Returns: What keeps it in force.
  package func aroundReplacement(
    _ body: @escaping @Sendable (Connection, Connection, () throws -> Void) throws -> Void
  ) -> Registration {
    shared.replacements.add(body)
  }

  /// Replaces the whole content of this database, as the layers above want it. Observers are told at the end of
  /// the access.
  func replaceContent(
    from source: Connection, on target: Connection, _ replace: () throws -> Void
  ) throws {
    try shared.replacements.run(source, target) {
      try replace()
      shared.content.increase()
    }
  }
}
