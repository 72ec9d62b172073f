import CSQLite

/// An event of a connection, for logging (`sqlite3_trace_v2`).
public enum TraceEvent: Hashable, Sendable {
  /// A statement or a trigger begins. The SQL of a statement contains the parameters, or their
  /// values if the trace shows values. For a trigger, it is a comment with the trigger's name.
  case begins(sql: String)
  /// A statement has ended. The duration is that of the whole run, as measured by SQLite.
  case ended(sql: String, duration: Duration)
}

/// The closure that receives the trace events of a connection. SQLite's trace callback doesn't
/// retain this object, so the connection keeps it alive.
final class Tracer {
  let showsValues: Bool
  private let body: (TraceEvent) -> Void
  private let callback: UserCallback

  init(showsValues: Bool, _ callback: UserCallback, _ body: @escaping (TraceEvent) -> Void) {
    self.showsValues = showsValues
    self.callback = callback
    self.body = body
  }

  fileprivate func report(_ event: TraceEvent) {
    callback.run { body(event) }
  }

  /// Registers a tracer with SQLite, or removes the current one if `tracer` is nil
  /// (`sqlite3_trace_v2`). The caller must keep the tracer alive.
  static func install(_ tracer: Tracer?, on handle: ConnectionHandle) throws(SQLiteError) {
    let context = unsafe tracer.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    let mask = tracer == nil ? 0 : UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE)
    try handle.check(
      unsafe sqlite3_trace_v2(handle.pointer, mask, tracer == nil ? nil : traced, context))
  }
}

private func traced(
  event: UInt32, context: UnsafeMutableRawPointer?, statement: UnsafeMutableRawPointer?,
  detail: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context, let statement = unsafe statement else { return 0 }
  let tracer = unsafe Unmanaged<Tracer>.fromOpaque(context).takeUnretainedValue()
  if event == UInt32(SQLITE_TRACE_PROFILE) {
    // The detail is the duration in nanoseconds.
    let nanoseconds = unsafe detail?.load(as: Int64.self) ?? 0
    let sql = unsafe sqlText(OpaquePointer(statement), showsValues: tracer.showsValues)
    tracer.report(.ended(sql: sql, duration: .nanoseconds(nanoseconds)))
  } else {
    // The detail is the SQL, or a comment with the name of a trigger that begins.
    let text = unsafe detail.map { unsafe String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    if let text, text.hasPrefix("--") {
      tracer.report(.begins(sql: text))
    } else {
      let sql = unsafe sqlText(OpaquePointer(statement), showsValues: tracer.showsValues)
      tracer.report(.begins(sql: sql))
    }
  }
  return 0
}

/// Returns the SQL of a statement, with the bound values inserted if `showsValues` is true.
private func sqlText(_ statement: OpaquePointer, showsValues: Bool) -> String {
  if showsValues, let expanded = unsafe sqlite3_expanded_sql(statement) {
    defer { unsafe sqlite3_free(expanded) }
    return unsafe String(cString: expanded)
  }
  return unsafe sqlite3_sql(statement).map { unsafe String(cString: $0) } ?? ""
}
