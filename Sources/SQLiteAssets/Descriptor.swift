import Platform

/// An open file descriptor, closed when its owner goes.
final class Descriptor: Sendable {
  let number: Int32
  private let operations: any FileOperations

  init(_ number: Int32, _ operations: any FileOperations) {
    self.number = number
    self.operations = operations
  }

  deinit {
    operations.close(number)
  }
}

/// Repeats a C call that a signal interrupted, and names the path that it failed for.
func retrying<Result>(
  _ path: @autoclosure () -> String, _ call: () throws(SystemFailure) -> Result
) throws(AssetError) -> Result {
  while true {
    do {
      return try call()
    } catch {
      guard error.number != EINTR else { continue }
      throw .system(call: error.call, path: path(), number: error.number)
    }
  }
}
