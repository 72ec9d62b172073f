import CSQLite

extension Connection {
  /// Registers a Swift closure as an SQL function on this connection.
  ///
  ///     options.prepareConnection = { connection in
  ///       try connection.addFunction("initials") { (name: String) in
  ///         name.split(separator: " ").compactMap(\.first).map(String.init).joined()
  ///       }
  ///     }
  ///
  /// Each connection of a pool needs the function, so add it in
  /// ``Database/Options/prepareConnection``. SQL that calls the function with another number of
  /// arguments doesn't compile. If an argument has another type, or if the closure throws, the
  /// statement fails.
  ///
  /// - Parameters:
  ///   - name: The name of the function. Functions with the same name may differ in the number of
  ///     arguments.
  ///   - isDeterministic: Whether equal arguments always produce equal results. SQLite may then
  ///     call the function less often, and use it in indexes.
  ///   - isUsableInSchema: Whether views, triggers, CHECK constraints and indexes may use the
  ///     function. Set this only if the function has no side effects and a malicious database file
  ///     can't misuse it.
  ///   - body: The implementation of the function. It must not use the database that calls it.
  /// - Throws: ``SQLiteError`` if the name is not valid, if a statement is running and the function
  ///   already exists, or if the database belongs to a cluster, which doesn't support custom
  ///   functions.
  public func addFunction<each Argument: ColumnValue, Result: Bindable>(
    _ name: String, isDeterministic: Bool = false, isUsableInSchema: Bool = false,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(SQLiteError) {
    hooks.hasUserCode = true
    let function = ScalarFunction { values in
      var arguments = ArgumentReader(values)
      return try body(repeat try arguments.next(as: (each Argument).self)).databaseValue
    }
    try add(
      function, name, argumentCount: argumentCount(repeat (each Argument).self),
      flags(isDeterministic, isUsableInSchema))
  }

  /// Registers a Swift closure as an SQL function with any number of arguments. If the closure
  /// throws, the statement that calls the function fails.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - isDeterministic: Whether equal arguments always produce equal results.
  ///   - isUsableInSchema: Whether views, triggers, CHECK constraints and indexes may use the
  ///     function.
  ///   - body: The implementation of the function. It must not use the database that calls it.
  /// - Throws: ``SQLiteError`` if the name is not valid, if a statement is running and the function
  ///   already exists, or if the database belongs to a cluster, which doesn't support custom
  ///   functions.
  public func addVariadicFunction(
    _ name: String, isDeterministic: Bool = false, isUsableInSchema: Bool = false,
    _ body: @escaping @Sendable ([Value]) throws -> Value
  ) throws(SQLiteError) {
    hooks.hasUserCode = true
    let function = ScalarFunction { try body($0).databaseValue }
    try add(function, name, argumentCount: -1, flags(isDeterministic, isUsableInSchema))
  }

  /// Registers Swift closures as an SQL aggregate function. If a closure throws, the statement that
  /// calls the function fails.
  ///
  ///     try connection.addAggregate("product", initial: { 1.0 }) {
  ///       (state: inout Double, factor: Double) in state *= factor
  ///     } result: { $0 }
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - isUsableInSchema: Whether views and triggers may use the function.
  ///   - initial: Returns the state of a group before its first row.
  ///   - step: Adds a row to the state.
  ///   - result: Returns the function's value for a state.
  /// - Throws: ``SQLiteError`` if the name is not valid, if a statement is running and the function
  ///   already exists, or if the database belongs to a cluster, which doesn't support custom
  ///   functions.
  public func addAggregate<State, each Argument: ColumnValue, Result: Bindable>(
    _ name: String, isUsableInSchema: Bool = false,
    initial: @escaping @Sendable () -> State,
    step: @escaping @Sendable (inout State, repeat each Argument) throws -> Void,
    result: @escaping @Sendable (State) throws -> Result
  ) throws(SQLiteError) {
    try addAggregate(
      name, isUsableInSchema: isUsableInSchema, initial: initial, step: step,
      remove: { (_: inout State, _: repeat each Argument) in }, result: result, isWindow: false)
  }

  /// Registers Swift closures as an SQL function that works both as an aggregate and as a window
  /// function. If a closure throws, the statement that calls the function fails.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - isUsableInSchema: Whether views and triggers may use the function.
  ///   - initial: Returns the state of a group or window before its first row.
  ///   - step: Adds a row to the state.
  ///   - remove: Removes the oldest row from the state, when it leaves the window.
  ///   - result: Returns the function's value for a state. In a window, SQLite calls it for each
  ///     row.
  /// - Throws: ``SQLiteError`` if the name is not valid, if a statement is running and the function
  ///   already exists, or if the database belongs to a cluster, which doesn't support custom
  ///   functions.
  public func addWindowFunction<State, each Argument: ColumnValue, Result: Bindable>(
    _ name: String, isUsableInSchema: Bool = false,
    initial: @escaping @Sendable () -> State,
    step: @escaping @Sendable (inout State, repeat each Argument) throws -> Void,
    remove: @escaping @Sendable (inout State, repeat each Argument) throws -> Void,
    result: @escaping @Sendable (State) throws -> Result
  ) throws(SQLiteError) {
    try addAggregate(
      name, isUsableInSchema: isUsableInSchema, initial: initial, step: step, remove: remove,
      result: result, isWindow: true)
  }

  private func addAggregate<State, each Argument: ColumnValue, Result: Bindable>(
    _ name: String, isUsableInSchema: Bool, initial: @escaping @Sendable () -> State,
    step: @escaping @Sendable (inout State, repeat each Argument) throws -> Void,
    remove: @escaping (inout State, repeat each Argument) throws -> Void,
    result: @escaping @Sendable (State) throws -> Result, isWindow: Bool
  ) throws(SQLiteError) {
    hooks.hasUserCode = true
    let function = AggregateFunction {
      var state = initial()
      return AggregateRun(
        step: { values in
          var arguments = ArgumentReader(values)
          try step(&state, repeat try arguments.next(as: (each Argument).self))
        },
        remove: { values in
          var arguments = ArgumentReader(values)
          try remove(&state, repeat try arguments.next(as: (each Argument).self))
        },
        value: { try result(state).databaseValue })
    }
    try add(
      function, name, argumentCount: argumentCount(repeat (each Argument).self),
      flags(false, isUsableInSchema), isWindow: isWindow)
  }

  /// Registers an SQL function for triggers. It has no arguments and returns NULL. Each call runs a
  /// closure with the connection on which the trigger runs.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - body: The closure, which runs in the middle of a statement. It may schedule work for after
  ///     the commit, but must not run SQL.
  package func addSignal(
    _ name: String, _ body: @escaping @Sendable (Connection) -> Void
  ) throws(SQLiteError) {
    // SQLite owns the function, and the connection owns SQLite's handle.
    let function = ScalarFunction { [weak self] _ in
      if let self { body(self) }
      return .null
    }
    try add(function, name, argumentCount: 0, SQLITE_UTF8 | SQLITE_INNOCUOUS)
  }

  /// Registers a deterministic function of the library, which returns NULL if an argument is NULL.
  /// It has no side effects, so untrusted schemas may use it.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - argumentCount: The number of arguments.
  ///   - body: The implementation of the function. Its arguments are never NULL.
  package func addPureFunction(
    _ name: String, argumentCount: Int32, _ body: @escaping @Sendable ([Value]) throws -> Value
  ) throws(SQLiteError) {
    let function = ScalarFunction { values in
      values.contains(where: \.isNull) ? .null : try body(values)
    }
    try add(function, name, argumentCount: argumentCount, flags(true, true))
  }

  /// Registers a deterministic aggregate function of the library, which untrusted schemas may use.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - argumentCount: The number of arguments.
  ///   - initial: Returns the state of a group before its first row.
  ///   - step: Adds the arguments of a row to the state. They may be NULL.
  ///   - result: Returns the function's value for a state.
  package func addPureAggregate<State>(
    _ name: String, argumentCount: Int32, initial: @escaping @Sendable () -> State,
    step: @escaping @Sendable (inout State, [Value]) throws -> Void,
    result: @escaping @Sendable (State) throws -> Value
  ) throws(SQLiteError) {
    let function = AggregateFunction {
      var state = initial()
      return AggregateRun(
        step: { try step(&state, $0) }, remove: { _ in }, value: { try result(state) })
    }
    try add(
      function, name, argumentCount: argumentCount, flags(true, true), isWindow: false)
  }

  /// Removes a function from this connection.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - argumentCount: The number of its arguments, or nil for a variadic function.
  /// - Throws: ``SQLiteError`` if the name is not valid, or if a statement is running.
  public func removeFunction(_ name: String, argumentCount: Int?) throws(SQLiteError) {
    try checkFunctionName(name)
    let count = argumentCount.map { Int32(clamping: $0) } ?? -1
    try handle.check(
      unsafe sqlite3_create_function_v2(
        handle.pointer, name, count, SQLITE_UTF8, nil, nil, nil, nil, nil))
  }

  private func argumentCount<each Argument>(_ types: repeat (each Argument).Type) -> Int32 {
    var count: Int32 = 0
    for _ in repeat each types { count += 1 }
    return count
  }

  private func flags(_ isDeterministic: Bool, _ isUsableInSchema: Bool) -> Int32 {
    SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
      | (isUsableInSchema ? SQLITE_INNOCUOUS : SQLITE_DIRECTONLY)
  }

  func checkFunctionName(_ name: String) throws(SQLiteError) {
    try checkAccess()
    guard !name.isEmpty, name.utf8.count <= 255, !containsNUL(name) else {
      throw SQLiteError(.misuse, "a function name must have 1 to 255 bytes and no NUL character")
    }
  }

  func add(
    _ function: ScalarFunction, _ name: String, argumentCount: Int32, _ flags: Int32
  ) throws(SQLiteError) {
    try require(.functions)
    try checkFunctionName(name)
    // SQLite releases the function when it is removed, and also if this call fails.
    try handle.check(
      unsafe sqlite3_create_function_v2(
        handle.pointer, name, argumentCount, flags, Unmanaged.passRetained(function).toOpaque(),
        callScalar, nil, nil, releaseObject))
    try hideFromSchema(flags)
  }

  private func add(
    _ function: AggregateFunction, _ name: String, argumentCount: Int32, _ flags: Int32,
    isWindow: Bool
  ) throws(SQLiteError) {
    try require(.functions)
    try checkFunctionName(name)
    try handle.check(
      unsafe sqlite3_create_window_function(
        handle.pointer, name, argumentCount, flags, Unmanaged.passRetained(function).toOpaque(),
        stepAggregate, finishAggregate, isWindow ? valueOfAggregate : nil,
        isWindow ? removeFromAggregate : nil, releaseObject))
    try hideFromSchema(flags)
  }

  /// Makes SQLite reload the schema, so that it detects uses of a function that the schema must not
  /// use.
  ///
  /// SQLite checks this only when it loads a CHECK constraint, an index or a generated column. It
  /// allows functions that are unknown at that time.
  private func hideFromSchema(_ flags: Int32) throws(SQLiteError) {
    guard flags & SQLITE_DIRECTONLY != 0 else { return }
    try withoutAuthorizer { () throws(SQLiteError) in
      try handle.check(
        unsafe sqlite3_exec(handle.pointer, "PRAGMA writable_schema = RESET", nil, nil, nil))
    }
  }
}

/// A reader that returns the arguments of a call one by one.
private struct ArgumentReader {
  private let values: [Value]
  private var position = 0

  init(_ values: [Value]) {
    self.values = values
  }

  mutating func next<Argument: ColumnValue>(as type: Argument.Type) throws(SQLiteError) -> Argument
  {
    defer { position += 1 }
    guard values.indices.contains(position) else {
      throw SQLiteError(.range, "argument \(position + 1) is missing")
    }
    do {
      return try Argument(databaseValue: values[position])
    } catch {
      throw SQLiteError(error.code, "argument \(position + 1): \(error.message)")
    }
  }
}

private typealias Collation = Box<(String, String) -> Int>

extension Connection {
  /// Registers a Swift closure as a collation on this connection.
  ///
  ///     try connection.addCollation("byLength") { $0.utf8.count - $1.utf8.count }
  ///
  /// Each connection of a pool needs the collation, so add it in
  /// ``Database/Options/prepareConnection``. If the order changes, indexes that use the collation
  /// become corrupt.
  ///
  /// - Parameters:
  ///   - name: The name of the collation.
  ///   - compare: Returns a negative number if the first text sorts before the second, zero if they
  ///     are equal, and a positive number otherwise. It must define a consistent order of all
  ///     texts. Invalid UTF-8 is repaired before the call.
  /// - Throws: ``SQLiteError`` if the name is not valid, if a statement is using a collation with
  ///   this name, or if the database belongs to a cluster, which doesn't support custom collations.
  public func addCollation(
    _ name: String, _ compare: @escaping @Sendable (String, String) -> Int
  ) throws(SQLiteError) {
    try require(.collations)
    try checkFunctionName(name)
    hooks.hasUserCode = true
    let collation = unsafe Unmanaged.passRetained(Collation(compare))
    let code = unsafe sqlite3_create_collation_v2(
      handle.pointer, name, SQLITE_UTF8, collation.toOpaque(), callCollation, releaseObject)
    // Unlike functions, collations are not released if the call fails.
    if code != SQLITE_OK { unsafe collation.release() }
    try handle.check(code)
  }
}

private func callCollation(
  context: UnsafeMutableRawPointer?, firstCount: Int32, first: UnsafeRawPointer?,
  secondCount: Int32, second: UnsafeRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let collation = unsafe Unmanaged<Collation>.fromOpaque(context).takeUnretainedValue()
  let order = unsafe collation.content(
    String(decoding: UnsafeRawBufferPointer(start: first, count: Int(firstCount)), as: UTF8.self),
    String(decoding: UnsafeRawBufferPointer(start: second, count: Int(secondCount)), as: UTF8.self))
  return Int32(order.signum())
}
