import SQLiteCore

/// What a connection knows of a ``Record`` type: its table, and the SQL for its values.
final class RecordPlan {
  let type: any Record.Type
  let table: String
  /// The columns of the primary key.
  let keys: [String]
  let strategies: MappingStrategies
  /// `SELECT * FROM` the table `WHERE` the key is given.
  let selectByKey: String
  /// `DELETE FROM` the table `WHERE` the key is given.
  let deleteByKey: String
  /// The type, if its values are coded in place.
  let directType: (any DirectRecord.Type)?

  /// The columns, in order; none before the first value was seen.
  private(set) var columns: [ColumnDefinition] = []
  /// What the table was found fit for on this connection.
  var ensured = Fitness.none
  private var texts: [RecordWrite: String] = [:]
  private var reader: RowReader?
  private var binders: [RecordWrite: RowBinder] = [:]
  private var directWriter: AnyObject?
  private var keyBinder: RowBinder?

  init(of type: any Record.Type) throws(SQLiteError) {
    self.type = type
    directType = type as? any DirectRecord.Type
    table = type.tableName
    strategies = type.strategies
    let names = type.primaryKeys
    keys = names.map { [strategies] in strategies.keys.column(for: $0) }
    guard !keys.isEmpty else { throw SQLiteError(.misuse, "\(type) names no primary key") }
    guard type.primaryKeyType == .unique || keys.count == 1 else {
      throw SQLiteError(.misuse, "\(type) has several primary keys, so the caller must give them")
    }
    let condition = SQL(
      joining: keys.enumerated().map { "\(identifier: $1) = \(SQL(unchecked: "?\($0 + 1)"))" },
      separator: " AND ")
    let sql: SQL = "SELECT * FROM \(identifier: table) WHERE \(condition)"
    if let failure = sql.failure { throw failure }
    selectByKey = sql.text
    deleteByKey = ("DELETE FROM \(identifier: table) WHERE \(condition)" as SQL).text
  }

  /// What the table of a type is known to be fit for.
  enum Fitness: Comparable {
    case none
    /// To change rows that are there; new ones would have to fill columns of others.
    case changes
    case everything
  }

  /// Says whether the database counts keys up.
  var countsKeysUp: Bool {
    type.primaryKeyType == .autoIncrement || type.primaryKeyType == .computedInt
  }

  /// Says whether the database makes the key of a value that has none.
  var makesKey: Bool { type.primaryKeyType != .unique }

  /// Throws if the table belongs to others.
  func checkWritable() throws(SQLiteError) {
    guard type.isReadOnly else { return }
    throw SQLiteError(.readOnly, "\(type) is declared as read-only")
  }

  /// Learns the columns of a value, besides those known already.
  func learn(_ value: some Record) throws {
    let shape = try ShapeEncoder(value, strategies: strategies)
    let isFirst = columns.isEmpty
    for var column in shape.columns where !columns.contains(where: { isSame($0.name, column.name) })
    {
      // A property that a value before did not encode is optional, whatever its type.
      if !isFirst { column.isOptional = true }
      columns.append(column)
    }
    for key in keys where !columns.contains(where: { isSame($0.name, key) }) {
      throw SQLiteError(.misuse, "\(type) has no property for its primary key “\(key)”")
    }
    try checkKey(among: columns)
    ensured = .none
    texts.removeAll()
    binders.removeAll()
    directWriter = nil
  }

  /// Throws if the database counts keys up, and a value cannot be without one: all values would have
  /// the same, and overwrite each other.
  private func checkKey(among columns: [ColumnDefinition]) throws(SQLiteError) {
    guard countsKeysUp, let key = columns.first(where: { isKey($0.name) }), !key.isOptional
    else { return }
    throw SQLiteError(
      .misuse,
      "the database makes the key “\(key.name)” of \(type), so its property must be optional, and nil "
        + "in a new value")
  }

  /// As ``checkKey(among:)``, before there is a value; one that cannot be made up is waited for.
  func checkKeyOfExample() throws(SQLiteError) {
    guard countsKeysUp, let example = try? Placeholder.example(of: type),
      let shape = try? ShapeEncoder(example, strategies: strategies)
    else { return }
    try checkKey(among: shape.columns)
  }

  /// What reads the rows of a statement, the last one again if it fits.
  func reader(of statement: borrowing Statement) -> RowReader {
    if let reader, reader.reads(statement) { return reader }
    let new = RowReader(statement, as: type, strategies: strategies)
    reader = new
    return new
  }

  /// What binds the parameters of a write, the last one again if it is for the same statement.
  func binder(of write: RecordWrite, _ statement: borrowing Statement) -> RowBinder {
    if let binder = binders[write], binder.binds(to: statement) { return binder }
    let new = RowBinder(statement, columns: columns.map(\.name), strategies: strategies)
    binders[write] = new
    return new
  }

  /// What binds the parameters of ``selectByKey`` or ``deleteByKey``, the last one again if it is for
  /// the same statement.
  func keyBinder(of statement: borrowing Statement) -> RowBinder {
    if let keyBinder, keyBinder.binds(to: statement) { return keyBinder }
    let new = RowBinder(statement, columns: keys, strategies: strategies, bindsKeysOnly: true)
    keyBinder = new
    return new
  }

  /// What binds values in place, if it is possible, the last one again.
  func directWriter<Root: DirectRecord>(
    of type: Root.Type, _ connection: Connection
  ) throws -> AnyObject? {
    if let directWriter { return directWriter }
    directWriter = try DirectWriter(connection.directPlan(of: type), self)
    return directWriter
  }

  /// The SQL of a write, made once.
  func text(of write: RecordWrite) throws(SQLiteError) -> String {
    if let text = texts[write] { return text }
    let sql = try write.sql(for: self)
    if let failure = sql.failure { throw failure }
    texts[write] = sql.text
    return sql.text
  }

  /// The number of the parameter for the first column of the key, in every write.
  var keyParameter: Int32 {
    Int32((columns.firstIndex { isSame($0.name, keys[0]) } ?? 0) + 1)
  }

  func isSame(_ one: String, _ other: String) -> Bool {
    asciiLowercased(one) == asciiLowercased(other)
  }

  func isKey(_ column: String) -> Bool { keys.contains { isSame($0, column) } }
}

extension Connection {
  /// What this connection knows of a type.
  ///
  /// - Throws: ``SQLiteError`` if another type has the same table, or a newer program has been here;
  ///   ``SchemaError`` if rows are alike that the type declares to be unique.
  func plan(of type: any Record.Type) throws -> RecordPlan {
    if let known = attachment(type) as? RecordPlan { return known }
    let plan = try RecordPlan(of: type)
    if try !columnNames(of: MetaTable.name).isEmpty { try MetaTable.checkFormat(self) }
    try plan.checkKeyOfExample()
    if !type.isReadOnly { try claim(plan.table, for: type) }
    if plan.isSearched() { try SearchTable.allowTriggers(self) }
    let unique = plan.uniqueIndexes
    if !unique.isEmpty, !type.isReadOnly { try checkUnique(unique, of: plan.table) }
    attachments[ObjectIdentifier(type)] = plan
    return plan
  }
}
