import SQLiteCore

/// Writes values of one type by one statement.
struct RecordWriter: ~Copyable {
  private let plan: RecordPlan
  private let keyParameter: Int32
  private let binder: RowBinder
  /// A ``DirectWriter`` of the plan's type.
  private let direct: AnyObject?
  private var statement: Statement

  init(_ write: RecordWrite, _ plan: RecordPlan, on connection: Connection) throws {
    // First what throws: what is not copyable must not be half made.
    let text = try plan.text(of: write)
    let direct = try plan.directType.flatMap { try plan.directWriter(of: $0, connection) }
    let statement = try connection.statement(SQL(unchecked: text))
    self.plan = plan
    self.direct = direct
    keyParameter = plan.keyParameter
    binder = plan.binder(of: write, statement)
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
    if try unsafe bindAll(value) { return true }
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

  /// Binds a value, and says whether it had a key.
  @unsafe private func bindAll<Value: Record>(_ value: UnsafePointer<Value>) throws -> Bool {
    if let direct {
      // It was made for the plan's type, which is the value's.
      let writer = unsafe unsafeDowncast(direct, to: DirectWriter<Value>.self)
      if let hasKey = try unsafe writer.bind(value, binder) { return hasKey }
    }
    try unsafe binder.bind(value.pointee)
    return binder.isBound(keyParameter)
  }

  /// Writes the value that is bound.
  mutating func run() throws(SQLiteError) {
    while try statement.step() {}
  }

  /// Writes the value that is bound and reads the row that came of it.
  mutating func runReturning<Result: Record>(_ type: Result.Type) throws -> Result {
    guard try statement.step() else {
      throw SQLiteError(.notFound, "a trigger kept the row from being written", sql: statement.sql)
    }
    let result = try plan.reader(of: statement).row(as: type)
    while try statement.step() {}
    return result
  }
}
