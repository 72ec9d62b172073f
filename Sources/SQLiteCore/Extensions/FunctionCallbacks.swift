import CSQLite

/// An object that wraps a value, so that SQLite can store a pointer to it.
final class Box<Content> {
  let content: Content

  init(_ content: Content) {
    self.content = content
  }
}

/// The implementation of a scalar SQL function.
typealias ScalarFunction = Box<([Value]) throws -> Value>

/// The implementation of an SQL aggregate function. It creates the state of a group.
typealias AggregateFunction = Box<() -> AggregateRun>

/// The state of one group. SQLite's aggregate context owns it until the group ends.
struct AggregateRun {
  let step: ([Value]) throws -> Void
  let remove: ([Value]) throws -> Void
  let value: () throws -> Value
}

/// Releases an object that was passed to SQLite as user data.
func releaseObject(_ pointer: UnsafeMutableRawPointer?) {
  guard let pointer = unsafe pointer else { return }
  unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release()
}

func callScalar(
  context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let data = unsafe sqlite3_user_data(context) else { return }
  let function = unsafe Unmanaged<ScalarFunction>.fromOpaque(data).takeUnretainedValue()
  unsafe setResult(of: context) { try function.content(unsafe values(count, arguments)) }
}

func stepAggregate(
  context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let run = unsafe aggregateRun(context, begins: true) else { return }
  unsafe passError(to: context) { try run.step(unsafe values(count, arguments)) }
}

func removeFromAggregate(
  context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let run = unsafe aggregateRun(context, begins: false) else { return }
  unsafe passError(to: context) { try run.remove(unsafe values(count, arguments)) }
}

func valueOfAggregate(context: OpaquePointer?) {
  guard let run = unsafe aggregateRun(context, begins: true) else { return }
  unsafe setResult(of: context, run.value)
}

func finishAggregate(context: OpaquePointer?) {
  // A group without rows has no context.
  let storage = unsafe sqlite3_aggregate_context(context, 0)?
    .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  if let storage = unsafe storage, let stored = unsafe storage.pointee {
    let run = unsafe Unmanaged<Box<AggregateRun>>.fromOpaque(stored).takeRetainedValue().content
    unsafe storage.pointee = nil
    unsafe setResult(of: context, run.value)
  } else if let data = unsafe sqlite3_user_data(context) {
    let function = unsafe Unmanaged<AggregateFunction>.fromOpaque(data).takeUnretainedValue()
    unsafe setResult(of: context, function.content().value)
  }
}

/// Returns the state of the current group of an aggregate function. If the group has no state yet,
/// creates one if `begins` is true, and returns nil otherwise. Also returns nil if memory is
/// exhausted.
private func aggregateRun(_ context: OpaquePointer?, begins: Bool) -> AggregateRun? {
  let size = unsafe Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
  guard
    let storage = unsafe sqlite3_aggregate_context(context, begins ? size : 0)?
      .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  else {
    if begins { unsafe sqlite3_result_error_nomem(context) }
    return nil
  }
  if let stored = unsafe storage.pointee {
    return unsafe Unmanaged<Box<AggregateRun>>.fromOpaque(stored).takeUnretainedValue().content
  }
  guard begins, let data = unsafe sqlite3_user_data(context) else { return nil }
  let run = unsafe Unmanaged<AggregateFunction>.fromOpaque(data).takeUnretainedValue().content()
  unsafe storage.pointee = Unmanaged.passRetained(Box(run)).toOpaque()
  return run
}

/// Returns the arguments that SQLite passes to a function.
private func values(
  _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) throws(SQLiteError) -> [Value] {
  guard let arguments = unsafe arguments else { return [] }
  var result: [Value] = []
  result.reserveCapacity(Int(count))
  for index in 0..<Int(count) {
    guard let value = unsafe ValueView(arguments[index]).value else {
      throw SQLiteError(.mismatch, "argument \(index + 1) is not valid UTF-8")
    }
    result.append(value)
  }
  return result
}

/// Passes the result of `body`, or the error that it throws, to SQLite.
private func setResult(of context: OpaquePointer?, _ body: () throws -> Value) {
  unsafe passError(to: context) { unsafe setResult(try body(), of: context) }
}

/// Passes the error that `body` throws to SQLite.
private func passError(to context: OpaquePointer?, _ body: () throws -> Void) {
  do {
    try body()
  } catch let error as SQLiteError {
    // Set the message first, because it resets the code.
    unsafe sqlite3_result_error(context, error.message, -1)
    let isError = ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(error.code.primary.rawValue)
    unsafe sqlite3_result_error_code(context, isError ? error.code.rawValue : SQLITE_ERROR)
  } catch {
    unsafe sqlite3_result_error(context, "\(error)", -1)
  }
}

/// Passes a value to SQLite as the result of a function (`sqlite3_result_…`).
func setResult(_ value: Value, of context: OpaquePointer?) {
  switch value {
  case .null: unsafe sqlite3_result_null(context)
  case .integer(let integer): unsafe sqlite3_result_int64(context, integer)
  case .real(let real): unsafe sqlite3_result_double(context, real)
  case .text(var text):
    text.withUTF8 { bytes in
      unsafe csqlite_result_text(
        context, bytes.baseAddress.map { unsafe UnsafeRawPointer($0) } ?? emptyBytes,
        UInt64(bytes.count))
    }
  case .blob(let bytes):
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe csqlite_result_blob(context, buffer.baseAddress ?? emptyBytes, UInt64(buffer.count))
    }
  }
}
