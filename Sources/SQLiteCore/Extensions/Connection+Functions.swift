import CSQLite

extension Connection {
  /// Makes a Swift closure a function of SQL on this connection.
  ///
  ///     options.prepareConnection = { connection in
  ///       try connection.addFunction("initials") { (name: String) in
  ///         name.split(separator: " ").compactMap(\.first).map(String.init).joined()
  ///       }
  ///     }
  ///
  /// Each connection of a pool needs the function: add it in
  /// ``Database/Options/prepareConnection``. SQL that passes another number of arguments does not
  /// compile; an argument of another type, or what the closure throws, fails the statement.
  ///
  /// - Parameters:
  ///   - name: The function's name. Several functions of one name may differ in their arguments.
  ///   - isDeterministic: Whether equal arguments always give equal results, so that SQLite may
  ///     call it less often and use it in indexes.
  ///   - isUsableInSchema: Whether views, triggers, checks and indexes may use it. Only for
  ///     functions without effects that no hostile file can misuse.
  ///   - body: The function. It must not use the database that it is called from.
  /// - Throws: ``SQLiteError`` if the name cannot be one.
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

  /// Makes a Swift closure a function of any number of arguments.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - isDeterministic: Whether equal arguments always give equal results.
  ///   - isUsableInSchema: Whether views, triggers, checks and indexes may use it.
  ///   - body: The function.
  /// - Throws: ``SQLiteError`` if the name cannot be one.
  public func addVariadicFunction(
    _ name: String, isDeterministic: Bool = false, isUsableInSchema: Bool = false,
    _ body: @escaping @Sendable ([Value]) throws -> Value
  ) throws(SQLiteError) {
    hooks.hasUserCode = true
    let function = ScalarFunction { try body($0).databaseValue }
    try add(function, name, argumentCount: -1, flags(isDeterministic, isUsableInSchema))
  }

  /// Makes an aggregate function of Swift closures.
  ///
  ///     try connection.addAggregate("product", initial: { 1.0 }) {
  ///       (state: inout Double, factor: Double) in state *= factor
  ///     } result: { $0 }
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - isUsableInSchema: Whether views and triggers may use it.
  ///   - initial: Makes the state of a group without rows.
  ///   - step: Takes a row into the state.
  ///   - result: The function's value for a state.
  /// - Throws: ``SQLiteError`` if the name cannot be one.
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

  /// Makes a function of Swift closures that works as an aggregate and over windows that slide.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - isUsableInSchema: Whether views and triggers may use it.
  ///   - initial: Makes the state of a group or a window without rows.
  ///   - step: Takes a row into the state.
  ///   - remove: Takes the oldest row out of the state.
  ///   - result: The function's value for a state, called after each step.
  /// - Throws: ``SQLiteError`` if the name cannot be one.
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

  /// Makes a function without arguments and value, for triggers, that is told its connection.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - body: Runs in the middle of a statement: it may ask to be called after the commit, but may
  ///     run no SQL.
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

  /// Makes a function of the library's own: equal arguments give equal results, and NULL gives NULL. It has no
  /// effects, so that a hostile file may name it too.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - argumentCount: The number of arguments.
  ///   - body: The function, of arguments that are not NULL.
  package func addPureFunction(
    _ name: String, argumentCount: Int32, _ body: @escaping @Sendable ([Value]) throws -> Value
  ) throws(SQLiteError) {
    let function = ScalarFunction { values in
      values.contains(where: \.isNull) ? .null : try body(values)
    }
    try add(function, name, argumentCount: argumentCount, flags(true, true))
  }

  /// Makes an aggregate function of the library's own, as ``addPureFunction(_:argumentCount:_:)``.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - argumentCount: The number of arguments.
  ///   - initial: Makes the state of a group without rows.
  ///   - step: Takes the arguments of a row into the state. They may be NULL.
  ///   - result: The function's value for a state.
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

  /// Removes a function that was added.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - argumentCount: The number of its arguments, or nil for a variadic one.
  /// - Throws: ``SQLiteError``.
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
      throw SQLiteError(.misuse, "a function's name has 1 to 255 bytes and no NUL")
    }
  }

  func add(
    _ function: ScalarFunction, _ name: String, argumentCount: Int32, _ flags: Int32
  ) throws(SQLiteError) {
    try require(.functions)
    try checkFunctionName(name)
    // SQLite releases the function when it goes, also if this call fails.
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

  /// Has SQLite read the schema again, to notice that it uses a function that it may not use.
  ///
  /// SQLite checks this only when it reads a CHECK, an index or a generated column; a function that it
  /// did not know then counts as allowed.
  private func hideFromSchema(_ flags: Int32) throws(SQLiteError) {
    guard flags & SQLITE_DIRECTONLY != 0 else { return }
    try withoutAuthorizer { () throws(SQLiteError) in
      try handle.check(
        unsafe sqlite3_exec(handle.pointer, "PRAGMA writable_schema = RESET", nil, nil, nil))
    }
  }
}

/// Hands out the arguments of a call one by one.
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
  /// Makes a Swift closure a collation of SQL on this connection.
  ///
  ///     try connection.addCollation("byLength") { $0.utf8.count - $1.utf8.count }
  ///
  /// Each connection of a pool needs the collation: add it in
  /// ``Database/Options/prepareConnection``. An index that uses it is damaged if the order changes.
  ///
  /// - Parameters:
  ///   - name: The collation's name.
  ///   - compare: Returns a negative number if the first text comes first, zero if both are equal,
  ///     else a positive number. It must order all texts the same way each time. Bytes that are not
  ///     valid UTF-8 arrive repaired.
  /// - Throws: ``SQLiteError`` if the name cannot be one, or if a statement is using the collation.
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
