import Dispatch

extension Database {
  /// Runs `body` on the connection that writes, outside any transaction, once all reads of this
  /// database that run now have ended.
  ///
  /// It takes its place among the writes at that moment. Nothing is run if the database was closed
  /// or has gone by then. Reads of other processes, and of other databases on the file, do not count.
  ///
  /// - Parameter body: The work, which runs on a thread of the database's own.
  /// - Returns: False if no read runs now: then `body` is never run.
  package func afterPresentReads(_ body: @escaping @Sendable (Connection) -> Void) -> Bool {
    scheduler.afterPresentReads { [weak self] in
      guard let self else { return }
      let access = Access(scope: .bare, cancellation: Cancellation(), deadline: nil)
      scheduler.enter(access) { [self] granted in
        guard case .success(let place) = granted else { return }
        queues.run { [self] in
          scheduler.adopt(place)
          // What `body` does not handle itself is nobody's: there is no caller.
          try? run(.place(place), access) { body($0) }
        }
      }
    }
  }
}
