public import SQLiteCore

extension Connection {
  /// Inserts a value, or updates the row that has its primary key.
  ///
  ///     let toronto = try connection.update(City(name: "Toronto", population: 2_615_060))
  ///
  /// The call creates the table if it is missing, and adds missing columns. An update changes the
  /// existing row, so foreign keys that reference it are not affected.
  ///
  /// - Parameter value: The value. If it has no primary key, it is inserted.
  /// - Returns: The value, with its new primary key if the database assigned one.
  /// - Throws: `SQLiteError` if a statement fails, with `ResultCode.misuse` if the value has no
  ///   primary key and its type generates none, or with `ResultCode.readOnly` if the type is
  ///   ``Record/isReadOnly``; ``SchemaError`` if the table cannot be adapted to the type without
  ///   losing data, or if rows are equal in properties that the type declares as unique;
  ///   ``RowDecodingError`` if the written row cannot be decoded; an error from the value's
  ///   `encode(to:)`.
  @discardableResult
  public func update<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .update)
  }

  /// Inserts a value, or updates the row that has the same values in the given unique properties.
  ///
  /// - Parameters:
  ///   - value: The value. If a row is updated, it keeps its primary key.
  ///   - properties: The names of properties that are ``PropertyTrait/unique(_:)`` together. If
  ///     empty, the call does the same as ``update(_:)-(Value)``.
  /// - Returns: The value as it is stored after the write.
  /// - Throws: The errors of ``update(_:)-(Value)``, or `SQLiteError` if the properties are not
  ///   unique together.
  @discardableResult
  public func update<Value: Record>(
    _ value: Value, matching properties: [String]
  ) throws -> Value {
    let names = properties.map { Value.strategies.keys.column(for: $0) }
    guard !names.isEmpty else { return try update(value) }
    return try write(value, by: .updateMatching(names))
  }

  /// Inserts a value as a new row.
  ///
  /// - Parameter value: The value to insert.
  /// - Returns: The value, with its new primary key if the database assigned one.
  /// - Throws: The errors of ``update(_:)-(Value)``, or `SQLiteError` with a constraint code if a
  ///   row with the same primary key or the same unique values already exists.
  @discardableResult
  public func insert<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .insert)
  }

  /// Updates the row that has the value's primary key.
  ///
  /// - Parameter value: The value, which must have a primary key.
  /// - Throws: The errors of ``update(_:)-(Value)``, or `SQLiteError` with `ResultCode.notFound` if
  ///   the row doesn't exist, or if the value has no primary key and its type generates keys.
  public func updateExisting(_ value: some Record) throws {
    _ = try write(value, by: .updateExisting)
  }

  /// Inserts or updates many values with one statement, in one atomic transaction.
  ///
  /// The call doesn't return the keys that the database assigns. To get them, pass an array to
  /// ``update(_:)-([Value])``.
  ///
  /// - Parameter values: The values. Those without a primary key are inserted.
  /// - Returns: The number of values.
  /// - Throws: The errors of ``update(_:)-(Value)``. No value is written in this case.
  @discardableResult
  public func update<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .update)
  }

  /// Inserts many values with one statement, in one atomic transaction.
  ///
  /// The call doesn't return the keys that the database assigns. To get them, pass an array to
  /// ``insert(_:)-([Value])``.
  ///
  /// - Parameter values: The values to insert.
  /// - Returns: The number of values.
  /// - Throws: The errors of ``insert(_:)-(Value)``. No value is written in this case.
  @discardableResult
  public func insert<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .insert)
  }

  /// Updates the rows of many values with one statement, in one atomic transaction.
  ///
  /// - Parameter values: The values, which must have primary keys.
  /// - Returns: The number of values.
  /// - Throws: The errors of ``updateExisting(_:)``. No value is written in this case.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: some Sequence<Value>
  ) throws -> Int {
    try write(contentsOf: values, by: .updateExisting)
  }

  /// Inserts or updates values in one atomic transaction, and returns them with their keys.
  ///
  ///     let cities = try connection.update([City(name: "Toronto"), City(name: "Bern")])
  ///
  /// - Parameter values: The values. Those without a primary key are inserted.
  /// - Returns: The values, in order, with the primary keys that the database assigned.
  /// - Throws: The errors of ``update(_:)-(Value)``. No value is written in this case.
  @discardableResult
  public func update<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .update)
  }

  /// Inserts values in one atomic transaction, and returns them with their keys.
  ///
  /// - Parameter values: The values to insert.
  /// - Returns: The values, in order, with the primary keys that the database assigned.
  /// - Throws: The errors of ``insert(_:)-(Value)``. No value is written in this case.
  @discardableResult
  public func insert<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .insert)
  }
}

extension Connection {
  private func write<Value: Record>(_ values: [Value], by write: RecordWrite) throws -> [Value] {
    try savepoint { try values.map { try self.write($0, by: write) } }
  }

  /// Writes one value, after creating or altering its table if necessary.
  func write<Value: Record>(_ value: Value, by write: RecordWrite) throws -> Value {
    let plan = try plan(of: Value.self)
    return try withTable(of: plan, for: value, write) {
      var writer = try RecordWriter(write, plan, on: self)
      let hasKey = try writer.bind(value)
      if write.returnsRow { return try writer.runReturning(Value.self) }
      if hasKey {
        try writer.run()
        try checkChanged(by: write, plan)
        return value
      }
      guard write != .updateExisting else { throw notFound(plan) }
      var maker = try RecordWriter(.insertReturning, plan, on: self)
      _ = try maker.bind(value)
      return try maker.runReturning(Value.self)
    }
  }

  /// Writes values with one statement, in one transaction, and returns their number.
  func write<Value: Record>(
    contentsOf values: some Sequence<Value>, by write: RecordWrite
  ) throws -> Int {
    let plan = try plan(of: Value.self)
    return try savepoint {
      var count = 0
      try unsafe forEachBuffer(of: values) {
        try unsafe self.write($0, by: write, plan)
        count += $0.count
      }
      return count
    }
  }

  /// Calls `body` with the values in place or, if they aren't contiguous, with copies of up to a
  /// thousand values at a time. Copying a value of unknown type out of an array costs as much as
  /// binding some of its properties.
  @unsafe func forEachBuffer<Value>(
    of values: some Sequence<Value>, _ body: (UnsafeBufferPointer<Value>) throws -> Void
  ) throws {
    let isDone: Void? = try values.withContiguousStorageIfAvailable(body)
    guard isDone == nil else { return }
    var piece: [Value] = []
    for value in values {
      piece.append(value)
      guard piece.count == 1_000 else { continue }
      try unsafe piece.withUnsafeBufferPointer(body)
      piece.removeAll(keepingCapacity: true)
    }
    try unsafe piece.withUnsafeBufferPointer(body)
  }

  /// Writes values in place, without copying them.
  private func write<Value: Record>(
    _ values: UnsafeBufferPointer<Value>, by write: RecordWrite, _ plan: RecordPlan
  ) throws {
    guard let start = values.baseAddress else { return }
    var index = values.startIndex
    while index < values.endIndex {
      try withTable(of: plan, for: unsafe values[index], write) {
        var writer = try RecordWriter(write, plan, on: self)
        let first = index
        while index < values.endIndex {
          do {
            guard try unsafe writer.bind(start + index) || write != .updateExisting else {
              throw notFound(plan)
            }
          } catch is UnknownColumn where index > first {
            // The value has a property that no earlier value had. The outer loop continues with
            // this value.
            return
          }
          try writer.run()
          try checkChanged(by: write, plan)
          index += 1
        }
      }
    }
  }

  private func checkChanged(by write: RecordWrite, _ plan: RecordPlan) throws(SQLiteError) {
    if write == .updateExisting, numberOfRowsModified == 0 { throw notFound(plan) }
  }

  private func notFound(_ plan: RecordPlan) -> SQLiteError {
    SQLiteError(.notFound, "no row of “\(plan.name)” has the primary key of this \(plan.type)")
  }

  /// Runs `body` after checking that the type can be written, its properties are known, and its
  /// table exists. If `body` fails because `value` has new properties or the table is missing,
  /// adapts the known properties and the table, and runs `body` once more.
  private func withTable<Result>(
    of plan: RecordPlan, for value: some Record, _ write: RecordWrite, _ body: () throws -> Result
  ) throws -> Result {
    try plan.checkWritable()
    if plan.hasUnknownProperties {
      if let prototype = type(of: value).prototype { try plan.learn(prototype) }
      try plan.learn(value)
    }
    let need = write == .updateExisting ? RecordPlan.Fitness.changes : .everything
    if try plan.ensured < need || plan.ensuredSchema != schemaNumber(for: plan) {
      try ensureTable(of: plan, need)
    }
    do {
      return try body()
    } catch let error where isStaleSchemaError(error) {
      // The value has new properties, or the table was removed by a rollback or another connection.
      try plan.learn(value)
      try ensureTable(of: plan, need)
      return try body()
    }
  }

  /// Creates the table of a plan, or adapts it: adds missing columns and indexes, changes its
  /// delete rules, and rebuilds an outdated full-text index. Also creates the missing tables that
  /// it references.
  ///
  /// - Throws: ``SchemaError`` if a table cannot be adapted without losing data, or ``SQLiteError``
  ///   if a statement fails.
  func ensureTable(of plan: RecordPlan, _ need: RecordPlan.Fitness = .everything) throws {
    let ensured = try savepoint {
      var ensured = [(plan, try ensureOneTable(of: plan, need))]
      var targets = plan.table.targets
      while let type = targets.popLast() {
        guard !type.isReadOnly, try !tableExists(type.tableName) else { continue }
        let target = try self.plan(of: type)
        try learnExample(of: target)
        ensured.append((target, try ensureOneTable(of: target, .everything)))
        targets += target.table.targets
      }
      return ensured
    }
    for (plan, fitness) in ensured {
      plan.recordFit(fitness, inSchema: try schemaNumber(for: plan))
    }
  }

  /// Returns the schema version if the table of a plan needs triggers for its full-text index,
  /// otherwise nil.
  private func schemaNumber(for plan: RecordPlan) throws(SQLiteError) -> Value? {
    plan.table.searchedColumns.isEmpty ? nil : try pragma("schema_version")
  }

  /// Learns the properties of a type from its prototype or from a made-up value, unless they are
  /// known.
  func learnExample(of plan: RecordPlan) throws {
    if plan.hasUnknownProperties { try plan.learn(Placeholder.example(of: plan.type)) }
  }

  private func ensureOneTable(
    of plan: RecordPlan, _ need: RecordPlan.Fitness
  ) throws -> RecordPlan.Fitness {
    var isFit = false
    defer { if !isFit { plan.discardUnfitColumns() } }
    let definition = try plan.definition()
    let before = try differences(from: definition)
    let refused = before.filter {
      !$0.isHarmless && !(need == .changes && $0.kind == .extraColumnWithoutDefault)
    }
    guard refused.isEmpty else {
      throw SchemaError(table: plan.name, differences: refused.map(\.description))
    }
    if before.contains(where: { $0.kind == .missingTable || $0.kind == .missingColumn }) {
      _ = try MetaTable.storeUUID(self)
      try MetaTable.register(plan.name, of: "\(plan.type)", self)
    }
    if before.contains(where: \.isResolvedByWriting) { try ensure(definition) }
    try SearchTable(plan.table)?.ensure(self)
    isFit = true
    return before.contains { $0.kind == .extraColumnWithoutDefault } ? .changes : .everything
  }

  private func isStaleSchemaError(_ error: any Error) -> Bool {
    if error is UnknownColumn { return true }
    return (error as? SQLiteError)?.isMissingTableOrColumn ?? false
  }
}

/// A writer of values of one type, which uses one statement.
struct RecordWriter: ~Copyable {
  private let plan: RecordPlan
  private let keyParameter: Int32
  private let binder: RowBinder
  private var statement: Statement
  /// The connection if it assigns keys of a range.
  private let connection: Connection?

  init(_ write: RecordWrite, _ plan: RecordPlan, on connection: Connection) throws {
    // The throwing calls come first, because a noncopyable value must not be left partially
    // initialized.
    let text = try plan.text(of: write)
    let statement = try connection.statement(SQL(unchecked: text))
    binder = try plan.binder(of: write, statement)
    self.plan = plan
    keyParameter = plan.keyParameter
    self.statement = statement
    self.connection = connection.keyRange == nil ? nil : connection
  }

  /// Binds a value, and a new UUID if the value has no key and its type generates UUIDs. Returns
  /// whether the value had a key.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the value has no key and its type
  ///   generates none, or an error of ``RowBinder/bind(_:)``.
  mutating func bind<Value: Record>(_ value: Value) throws -> Bool {
    try unsafe withUnsafePointer(to: value) { try unsafe bind($0) }
  }

  /// Binds a value in place, like ``bind(_:)-(Value)``.
  @unsafe mutating func bind<Value: Record>(_ value: UnsafePointer<Value>) throws -> Bool {
    try unsafe binder.bind(value.pointee)
    if binder.isBound(keyParameter) { return true }
    guard plan.generatesKey else {
      throw SQLiteError(
        .misuse,
        "this \(plan.type) has no value for its primary key “\(plan.keys[0])”; set it "
          + "before writing",
        sql: statement.sql)
    }
    // The SQL generates all other kinds of keys.
    if plan.type.primaryKeyType == .uuid {
      try statement.bind(plan.newUUID(), at: Int(keyParameter))
    } else if let key = try connection?.reserveKeys(1) {
      try statement.bind(key, at: Int(keyParameter))
    }
    return false
  }

  /// Writes the bound value.
  mutating func run() throws(SQLiteError) {
    while try statement.step() {}
  }

  /// Writes the bound value and returns the resulting row, decoded as `type`.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/notFound`` if a trigger skipped the write with
  ///   `RAISE(IGNORE)`, or ``RowDecodingError`` if the row cannot be decoded.
  mutating func runReturning<Result: Record>(_ type: Result.Type) throws -> Result {
    guard try statement.step() else {
      throw SQLiteError(
        .notFound, "the row was not written: a trigger raised IGNORE", sql: statement.sql)
    }
    let result = try plan.reader(of: statement).row(as: type)
    while try statement.step() {}
    return result
  }
}
