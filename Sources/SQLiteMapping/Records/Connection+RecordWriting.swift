import SQLiteCore

extension Connection {
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
      let count = try values.withContiguousStorageIfAvailable { buffer in
        try unsafe self.write(buffer, by: write, plan)
        return buffer.count
      }
      if let count { return count }
      return try self.write(inPieces: values, by: write, plan)
    }
  }

  /// Writes the values of a sequence without holding all of them.
  private func write<Value: Record>(
    inPieces values: some Sequence<Value>, by write: RecordWrite, _ plan: RecordPlan
  ) throws -> Int {
    var count = 0
    var piece: [Value] = []
    for value in values {
      piece.append(value)
      guard piece.count == 1_000 else { continue }
      try unsafe piece.withUnsafeBufferPointer { try unsafe self.write($0, by: write, plan) }
      count += piece.count
      piece.removeAll(keepingCapacity: true)
    }
    try unsafe piece.withUnsafeBufferPointer { try unsafe self.write($0, by: write, plan) }
    return count + piece.count
  }

  /// Writes values in place: taking them out of an array of unknown type costs as much as binding
  /// some of their properties.
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
            // It has a property that none before it had: the next turn begins with it.
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
    if plan.ensured < need { try ensureTable(of: plan, need) }
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
    for (plan, fitness) in ensured { plan.ensured = fitness }
  }

  /// Learns the properties of a type without a value of the user's.
  func learnExample(of plan: RecordPlan) throws {
    if plan.isUnknown { try plan.learn(Placeholder.example(of: plan.type)) }
  }

  private func ensureOneTable(
    of plan: RecordPlan, _ need: RecordPlan.Fitness
  ) throws -> RecordPlan.Fitness {
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
    try SearchTable(plan)?.ensure(self)
    return before.contains { $0.kind == .extraColumnWithoutDefault } ? .changes : .everything
  }

  private func isAboutSchema(_ error: any Error) -> Bool {
    if error is UnknownColumn { return true }
    guard let error = error as? SQLiteError, error.code.primary == .error else { return false }
    return error.message.hasPrefix("no such table") || error.message.contains("has no column named")
      || error.message.hasPrefix("no such column")
  }
}
