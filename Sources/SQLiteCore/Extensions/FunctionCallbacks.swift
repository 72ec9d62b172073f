import CSQLite

/// A scalar function, owned by SQLite.
final class ScalarFunction {
  let body: ([Value]) throws -> Value

  init(_ body: @escaping ([Value]) throws -> Value) {
    self.body = body
  }
}

/// An aggregate function, owned by SQLite: makes a run for each group.
final class AggregateFunction {
  let begin: () -> AggregateRun

  init(_ begin: @escaping () -> AggregateRun) {
    self.begin = begin
  }
}

/// The state of one group, owned by SQLite's context of the aggregate until its end.
final class AggregateRun {
  let step: ([Value]) throws -> Void
  let remove: ([Value]) throws -> Void
  let value: () throws -> Value

  init(
    step: @escaping ([Value]) throws -> Void, remove: @escaping ([Value]) throws -> Void,
    value: @escaping () throws -> Value
  ) {
    self.step = step
    self.remove = remove
    self.value = value
  }
}

/// Releases what was handed to SQLite as its user data.
func releaseObject(_ pointer: UnsafeMutableRawPointer?) {
  guard let pointer = unsafe pointer else { return }
  unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release()
}

func callScalar(
  context: OpaquePointer?, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let data = unsafe sqlite3_user_data(context) else { return }
  let function = unsafe Unmanaged<ScalarFunction>.fromOpaque(data).takeUnretainedValue()
  unsafe setResult(of: context) { try function.body(unsafe values(count, arguments)) }
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
  // A group without rows has no context yet.
  let place = unsafe sqlite3_aggregate_context(context, 0)?
    .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  if let place = unsafe place, let stored = unsafe place.pointee {
    let run = unsafe Unmanaged<AggregateRun>.fromOpaque(stored).takeRetainedValue()
    unsafe place.pointee = nil
    unsafe setResult(of: context, run.value)
  } else if let data = unsafe sqlite3_user_data(context) {
    let function = unsafe Unmanaged<AggregateFunction>.fromOpaque(data).takeUnretainedValue()
    unsafe setResult(of: context, function.begin().value)
  }
}

/// The run of the present group; SQLite keeps a pointer to it, zero at first.
private func aggregateRun(_ context: OpaquePointer?, begins: Bool) -> AggregateRun? {
  let size = unsafe Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
  guard
    let place = unsafe sqlite3_aggregate_context(context, begins ? size : 0)?
      .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  else {
    if begins { unsafe sqlite3_result_error_nomem(context) }
    return nil
  }
  if let stored = unsafe place.pointee {
    return unsafe Unmanaged<AggregateRun>.fromOpaque(stored).takeUnretainedValue()
  }
  guard begins, let data = unsafe sqlite3_user_data(context) else { return nil }
  let run = unsafe Unmanaged<AggregateFunction>.fromOpaque(data).takeUnretainedValue().begin()
  unsafe place.pointee = Unmanaged.passRetained(run).toOpaque()
  return run
}

/// The arguments of a call.
private func values(
  _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) throws(SQLiteError) -> [Value] {
  guard let arguments = unsafe arguments else { return [] }
  var result: [Value] = []
  result.reserveCapacity(Int(count))
  for index in 0..<Int(count) {
    guard let value = unsafe value(of: arguments[index]) else {
      throw SQLiteError(.mismatch, "argument \(index + 1) holds invalid UTF-8")
    }
    result.append(value)
  }
  return result
}

/// The content of a `sqlite3_value`, or nil for text that is not valid UTF-8.
func value(of pointer: OpaquePointer?) -> Value? {
  switch unsafe sqlite3_value_type(pointer) {
  case SQLITE_INTEGER: return .integer(unsafe sqlite3_value_int64(pointer))
  case SQLITE_FLOAT: return .real(unsafe sqlite3_value_double(pointer))
  case SQLITE_TEXT:
    // First the text, then its size: asking for the text may convert the value.
    guard let start = unsafe sqlite3_value_text(pointer) else { return nil }
    return unsafe text(copying: start, count: Int(sqlite3_value_bytes(pointer))).map { .text($0) }
  case SQLITE_BLOB: return .blob(unsafe valueBytes(pointer))
  default: return .null
  }
}

/// The bytes of a blob or a text.
func valueBytes(_ pointer: OpaquePointer?) -> [UInt8] {
  let start = unsafe sqlite3_value_blob(pointer)
  return unsafe copiedBytes(start, count: Int(sqlite3_value_bytes(pointer)))
}

/// Gives SQLite what `body` returns, or the error that it throws.
private func setResult(of context: OpaquePointer?, _ body: () throws -> Value) {
  unsafe passError(to: context) { unsafe setResult(try body(), of: context) }
}

/// Turns a thrown error into SQLite's.
private func passError(to context: OpaquePointer?, _ body: () throws -> Void) {
  do {
    try body()
  } catch let error as SQLiteError {
    // The words first: they reset the code.
    unsafe sqlite3_result_error(context, error.message, -1)
    let isError = ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(error.code.primary.rawValue)
    unsafe sqlite3_result_error_code(context, isError ? error.code.rawValue : SQLITE_ERROR)
  } catch {
    unsafe sqlite3_result_error(context, "\(error)", -1)
  }
}
