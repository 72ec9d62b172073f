/// A box that passes a value, which may not be `Sendable`, between a task and the thread of a
/// database access.
// Proof: a value that is passed in was given away (`sending`). A value that is passed out was
// created by this access, or was passed in before: a `@Sendable` closure cannot store it anywhere
// else, and the connection stores neither. Each side accesses the value once, the second one after
// the first.
package struct Handoff<Value>: @unchecked Sendable {
  // Proof: as above.
  private nonisolated(unsafe) let value: Value

  package init(_ value: Value) { unsafe self.value = value }

  /// Returns the value. Only the receiving task or thread may call this, and only once.
  package func take() -> sending Value {
    // Proof: as above.
    nonisolated(unsafe) let value = unsafe value
    return unsafe value
  }
}
