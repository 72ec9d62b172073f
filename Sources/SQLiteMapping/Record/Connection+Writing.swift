public import SQLiteCore

extension Connection {
  /// Inserts a value, or changes the row that has its primary key.
  ///
  ///     let toronto = try connection.update(City(name: "Toronto", population: 2_615_060))
  ///
  /// The table is made first if there is none, and gets the columns that it lacks. A row that is
  /// changed stays the same row: what refers to it by a foreign key is not touched.
  ///
  /// - Parameter value: The value. Without a key it is inserted.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: `SQLiteError`; ``SchemaError`` if the table would lose something.
  @discardableResult
  public func update<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .update)
  }

  /// Inserts a value, or changes the row that has the same values in other unique properties.
  ///
  /// - Parameters:
  ///   - value: The value. A row that is changed keeps its own primary key.
  ///   - properties: Properties that are ``PropertyTrait/unique(_:)`` together.
  /// - Returns: The value as its row is now.
  /// - Throws: `SQLiteError`, also if the properties are not unique.
  @discardableResult
  public func update<Value: Record>(
    _ value: Value, matching properties: [String]
  ) throws -> Value {
    let names = properties.map { Value.strategies.keys.column(for: $0) }
    guard !names.isEmpty else { return try update(value) }
    return try write(value, by: .updateMatching(names))
  }

  /// Inserts a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The value, with the key that the database made if it had none.
  /// - Throws: `SQLiteError` with a constraint code if its key is there already.
  @discardableResult
  public func insert<Value: Record>(_ value: Value) throws -> Value {
    try write(value, by: .insert)
  }

  /// Changes the row that has the value's primary key.
  ///
  /// - Parameter value: The value.
  /// - Throws: `SQLiteError` with `ResultCode.notFound` if there is no such row.
  public func updateExisting(_ value: some Record) throws {
    _ = try write(value, by: .updateExisting)
  }

  /// Updates many values by one statement, in one transaction: all of them or none.
  ///
  /// Keys that the database makes are not handed back: to get them, call ``update(_:)-(Value)`` for
  /// each value inside one `write`.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As ``update(_:)-(Value)``.
  @discardableResult
  public func update<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .update)
  }

  /// Inserts many values by one statement, in one transaction: all of them or none.
  ///
  /// Keys that the database makes are not handed back: to get them, call `insert(_:)` for each
  /// value inside one `write`.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As `insert(_:)`.
  @discardableResult
  public func insert<Value: Record>(contentsOf values: some Sequence<Value>) throws -> Int {
    try write(contentsOf: values, by: .insert)
  }

  /// Changes the rows of many values by one statement, in one transaction: all of them or none.
  ///
  /// - Parameter values: The values.
  /// - Returns: How many there were.
  /// - Throws: As ``updateExisting(_:)``.
  @discardableResult
  public func updateExisting<Value: Record>(
    contentsOf values: some Sequence<Value>
  ) throws -> Int {
    try write(contentsOf: values, by: .updateExisting)
  }

  /// Updates values in one transaction, all of them or none, and hands their keys back.
  ///
  ///     let cities = try connection.update([City(name: "Toronto"), City(name: "Bern")])
  ///
  /// - Parameter values: The values. Those without a key are inserted.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``update(_:)-(Value)``.
  @discardableResult
  public func update<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .update)
  }

  /// Inserts values in one transaction, all of them or none, and hands their keys back.
  ///
  /// - Parameter values: The values.
  /// - Returns: The values, in order, with the keys that the database made.
  /// - Throws: As ``insert(_:)-(Value)``.
  @discardableResult
  public func insert<Value: Record>(_ values: [Value]) throws -> [Value] {
    try write(values, by: .insert)
  }
}

extension Connection {
  private func write<Value: Record>(_ values: [Value], by write: RecordWrite) throws -> [Value] {
    try savepoint { try values.map { try self.write($0, by: write) } }
  }

  /// Writes one value, after making or growing its table if need be.
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

  /// Writes values by one statement, in one transaction, and returns how many there were.
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

  /// Calls `body` with the values where they lie, or with copies of a thousand at a time if they don't lie together:
  /// taking a value of unknown type out of an array costs as much as binding some of its properties.
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

  /// Writes values where they lie.
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
            // The value has a property that none before it had: the next run begins with it.
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

  /// Runs `body` with the table there and all properties of `value` known.
  private func withTable<Result>(
    of plan: RecordPlan, for value: some Record, _ write: RecordWrite, _ body: () throws -> Result
  ) throws -> Result {
    try plan.checkWritable()
    if plan.isUnknown {
      if let prototype = type(of: value).prototype { try plan.learn(prototype) }
      try plan.learn(value)
    }
    let need = write == .updateExisting ? RecordPlan.Fitness.changes : .everything
    if try plan.ensured < need || plan.ensuredSchema != schemaNumber(for: plan) {
      try ensureTable(of: plan, need)
    }
    do {
      return try body()
    } catch let error where isAboutSchema(error) {
      // The value has new properties, or the table has gone, by a rollback or by others.
      try plan.learn(value)
      try ensureTable(of: plan, need)
      return try body()
    }
  }

  /// Makes the table of a plan, or gives it what it lacks, and makes missing ones that it refers to.
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
      plan.noteFit(fitness, inSchema: try schemaNumber(for: plan))
    }
  }

  /// The number of the schema, if the table of a plan needs triggers.
  private func schemaNumber(for plan: RecordPlan) throws(SQLiteError) -> Value? {
    plan.table.searchedColumns.isEmpty ? nil : try pragma("schema_version")
  }

  /// Learns the properties of a type from its prototype, or from a made-up value.
  func learnExample(of plan: RecordPlan) throws {
    if plan.isUnknown { try plan.learn(Placeholder.example(of: plan.type)) }
  }

  private func ensureOneTable(
    of plan: RecordPlan, _ need: RecordPlan.Fitness
  ) throws -> RecordPlan.Fitness {
    var isFit = false
    defer { if !isFit { plan.forgetUnfit() } }
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
    if before.contains(where: \.isMendedByWriting) { try ensure(definition) }
    try SearchTable(plan.table)?.ensure(self)
    isFit = true
    return before.contains { $0.kind == .extraColumnWithoutDefault } ? .changes : .everything
  }

  private func isAboutSchema(_ error: any Error) -> Bool {
    if error is UnknownColumn { return true }
    return (error as? SQLiteError)?.isOfMissingTable ?? false
  }
}

/// Writes values of one type by one statement.
struct RecordWriter: ~Copyable {
  private let plan: RecordPlan
  private let keyParameter: Int32
  private let binder: RowBinder
  private var statement: Statement

  init(_ write: RecordWrite, _ plan: RecordPlan, on connection: Connection) throws {
    // Calls that throw come first: a noncopyable value must not be left half initialized.
    let text = try plan.text(of: write)
    let statement = try connection.statement(SQL(unchecked: text))
    binder = try plan.binder(of: write, statement)
    self.plan = plan
    keyParameter = plan.keyParameter
    self.statement = statement
  }

  /// Binds a value, with a new key if it has none, and says whether it had one.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it has none, and none can be made.
  mutating func bind<Value: Record>(_ value: Value) throws -> Bool {
    try unsafe withUnsafePointer(to: value) { try unsafe bind($0) }
  }

  /// Binds a value where it lies, as ``bind(_:)-(Value)``.
  @unsafe mutating func bind<Value: Record>(_ value: UnsafePointer<Value>) throws -> Bool {
    try unsafe binder.bind(value.pointee)
    if binder.isBound(keyParameter) { return true }
    guard plan.makesKey else {
      throw SQLiteError(
        .misuse, "this \(plan.type) has no value for its primary key “\(plan.keys[0])”",
        sql: statement.sql)
    }
    // The other kinds of keys are made by the SQL.
    if plan.type.primaryKeyType == .uuid {
      try statement.bind(plan.newUUID(), at: Int(keyParameter))
    }
    return false
  }

  /// Writes the value that is bound.
  mutating func run() throws(SQLiteError) {
    while try statement.step() {}
  }

  /// Writes the value that is bound and reads its row.
  mutating func runReturning<Result: Record>(_ type: Result.Type) throws -> Result {
    guard try statement.step() else {
      throw SQLiteError(.notFound, "a trigger kept the row from being written", sql: statement.sql)
    }
    let result = try plan.reader(of: statement).row(as: type)
    while try statement.step() {}
    return result
  }
}
