import Essentials
import SQLiteCore

/// A ``Record`` type on one connection: its table, whether the table fits the type, and the readers
/// and binders of its values.
final class RecordPlan {
  let type: any Record.Type
  /// The table, with the properties of all values seen so far.
  private(set) var table: TablePlan
  /// The table, with only those properties that had a column when the table was last found to fit.
  private var fitting: TablePlan
  /// The SQL that selects the row with a key.
  let selectByKey: String
  /// The declared defaults of columns, as SQL. Empty for a read-only type, which never adds
  /// columns.
  private let defaults: [(column: String, value: SQL)]
  /// The SQL that deletes the row with a key.
  let deleteByKey: String

  /// The degree to which the table fits the type, as last determined on this connection.
  var ensured = Fitness.none
  /// The schema version in which the table and its triggers were last found to fit, or nil if the
  /// type needs no triggers. Each write compares it with the current version, because another
  /// connection may drop the triggers, and a write without them doesn't fail.
  private(set) var ensuredSchema: Value?
  /// The number of the parameter for the first key column. It is the same in all writes.
  private(set) var keyParameter: Int32 = 1
  /// The SQL and the binder of each kind of write that has been used. There are few kinds, so a
  /// linear search is faster than hashing.
  private var writes: [(write: RecordWrite, text: String, binder: RowBinder?)] = []
  private var reader: RowReader?
  private var keyBinder: RowBinder?
  private var shapeReader: ShapeReader?
  /// Whether the type stores scalars in their default forms, so that parts of a key are bound
  /// without conversion.
  private let hasDefaultForms: Bool

  init(of type: any Record.Type) throws(SQLiteError) {
    self.type = type
    let strategies = type.strategies
    let keys = type.primaryKeys.map { strategies.keys.column(for: $0) }
    guard !keys.isEmpty else { throw SQLiteError(.misuse, "\(type) declares no primary key") }
    guard type.primaryKeyType == .unique || keys.count == 1 else {
      throw SQLiteError(
        .misuse,
        "\(type) has several primary keys, which the database cannot assign; declare "
          + "primaryKeyType as .unique")
    }
    let key: TablePlan.Key =
      switch type.primaryKeyType {
      case .unique, .uuid: .given(keys)
      case .autoIncrement: .autoIncremented(keys[0])
      case .computedInt: .computed(keys[0])
      }
    table = TablePlan(type.tableName, key: key, kind: .records, strategies: strategies)
    fitting = table
    hasDefaultForms = strategies.scalars == MappingStrategies().scalars
    selectByKey = try table.selectByKey().checkedText
    deleteByKey = try table.deleteByKey().checkedText
    var defaults: [(column: String, value: SQL)] = []
    for trait in type.traits where !type.isReadOnly {
      guard case .defaultValue(let value) = trait.kind else { continue }
      let literal = try SQL(unchecked: SQL.escapeValue(strategies.stored(bindable: value)))
      defaults += trait.properties.map { (strategies.keys.column(for: $0), literal) }
    }
    self.defaults = defaults
  }

  /// The kinds of writes that the table of a type is known to support.
  enum Fitness: Comparable {
    case none
    /// Rows can only be updated. New rows would need values for columns that belong to no property.
    case changes
    case everything
  }

  var name: String { table.name }
  var keys: [String] { table.keys }
  var strategies: MappingStrategies { table.strategies }
  /// Whether the properties are unknown, because no value has been seen yet.
  var hasUnknownProperties: Bool { table.properties.isEmpty }

  /// Whether a value without a key gets a generated key.
  var generatesKey: Bool { type.primaryKeyType != .unique }

  /// Whether the database generates increasing integers as keys.
  private var incrementsKeys: Bool {
    type.primaryKeyType == .autoIncrement || type.primaryKeyType == .computedInt
  }

  /// Returns a new key for a type with UUIDs as keys.
  func newUUID() -> Value { strategies.uuids.value(for: UUID()) }

  /// Throws ``SQLiteError`` with ``ResultCode/readOnly`` if the type is read-only.
  func checkWritable() throws(SQLiteError) {
    guard type.isReadOnly else { return }
    throw SQLiteError(.readOnly, "\(type) is declared as isReadOnly, so it cannot be written")
  }

  /// Adds the columns of a value to the known columns. If the call throws, the known columns don't
  /// change.
  func learn(_ value: some Record) throws {
    let shape = try ShapeReader(strategies).columns(of: value)
    var columns = table.columns
    for var column in shape where table.index(ofColumn: column.name) == nil {
      // Only checks that the name can be quoted. The table is compared with the columns later.
      _ = try quotedIdentifier(column.name)
      // A property that an earlier value did not encode is optional, whatever its type.
      if !hasUnknownProperties { column.isOptional = true }
      columns.append(column)
    }
    for key in keys where !columns.contains(where: { isSameName($0.name, key) }) {
      throw SQLiteError(.misuse, "\(type) has no property for its primary key “\(key)”")
    }
    try checkKey(among: columns)
    var learned = table
    try learned.setProperties(columns.map { .init($0.name, $0) }, type.traits) { [type] reason in
      SQLiteError(.misuse, "the traits of \(type) are invalid: \(reason)")
    }
    set(learned)
  }

  /// Discards the columns that could not be added to the table. Otherwise every later write would
  /// fail because of them.
  func discardUnfitColumns() { set(fitting) }

  private func set(_ table: TablePlan) {
    self.table = table
    keyParameter = Int32((table.index(ofColumn: keys[0]) ?? 0) + 1)
    ensured = .none
    writes.removeAll()
  }

  /// Records that the table fits the known columns. `number` is the schema version, or nil if the
  /// type needs no triggers.
  func recordFit(_ fitness: Fitness, inSchema number: Value?) {
    fitting = table
    ensured = fitness
    ensuredSchema = number
  }

  /// Throws if the database generates increasing keys but the key property is not optional. With
  /// such a property, all new values would have the same key and overwrite each other.
  private func checkKey(among columns: [ColumnDefinition]) throws(SQLiteError) {
    guard incrementsKeys, let key = columns.first(where: { table.isKey($0.name) }), !key.isOptional
    else { return }
    throw SQLiteError(
      .misuse,
      "the database assigns the key “\(key.name)” of \(type), so its property must be optional, "
        + "and nil in a new value")
  }

  /// Throws if the database generates increasing keys but the key property of the prototype, or of
  /// a made-up value, is not optional. If neither value is available, ``learn(_:)`` checks the
  /// first value that is written.
  func checkExampleKey() throws(SQLiteError) {
    guard incrementsKeys, let example = try? Placeholder.example(of: type),
      let columns = try? ShapeReader(strategies).columns(of: example)
    else { return }
    try checkKey(among: columns)
  }

  /// Returns the table that the type requires, with the properties of all values seen so far.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the database generates increasing keys
  ///   but the key property isn't an integer.
  func definition() throws(SQLiteError) -> TableDefinition {
    if incrementsKeys,
      let index = table.index(ofColumn: keys[0]), table.columns[index].type != .integer
    {
      throw SQLiteError(
        .misuse, "the key “\(keys[0])” of \(type) auto-increments, so it must be an integer")
    }
    return table.definition()
  }

  /// The unique indexes that the traits declare. Unlike the columns, they are known before the
  /// first value.
  var uniqueIndexes: [IndexDefinition] {
    type.traits.compactMap { trait in
      guard case .unique = trait.kind else { return nil }
      return IndexDefinition(
        trait.properties.map { strategies.keys.column(for: $0) }, isUnique: true)
    }
  }

  /// The names of the columns in the full-text index.
  var searchedColumns: [String] {
    type.traits.flatMap { trait in
      guard case .searched = trait.kind else { return [String]() }
      return trait.properties.map { strategies.keys.column(for: $0) }
    }
  }

  /// Returns the stored form of a part of a key, or nil if the type stores scalars in their default
  /// forms, so that `value` can be bound as it is.
  func stored(part value: some Bindable) throws(SQLiteError) -> Value? {
    hasDefaultForms ? nil : try strategies.stored(bindable: value)
  }

  /// Returns the SQL for the columns of a query for whole rows: all columns of the table, and the
  /// declared defaults of columns that the table lacks. The next write adds these columns. (An
  /// optional property without a column is decoded as nil.)
  ///
  /// - Parameters:
  ///   - all: SQL for all columns of the table.
  ///   - connection: The connection that runs the query.
  /// - Throws: ``SQLiteError`` if the type declares defaults and the table doesn't exist or cannot
  ///   be queried.
  func columns(_ all: SQL = "*", on connection: Connection) throws(SQLiteError) -> SQL {
    guard let missing = try missingDefaults(on: connection) else { return all }
    return "\(all), \(missing)"
  }

  /// Returns the query for the row with a key.
  ///
  /// - Throws: ``SQLiteError`` if the type declares defaults and the table doesn't exist or cannot
  ///   be queried.
  func selectByKey(on connection: Connection) throws(SQLiteError) -> SQL {
    guard let missing = try missingDefaults(on: connection) else {
      return SQL(unchecked: selectByKey)
    }
    return table.selectByKey("*, \(missing)")
  }

  /// Returns the SQL that adds the defaults of missing columns to a query, or nil if no column with
  /// a default is missing.
  private func missingDefaults(on connection: Connection) throws(SQLiteError) -> SQL? {
    if defaults.isEmpty { return nil }
    let present = try connection.statement(SQL(unchecked: selectByKey)).columnNames
    let missing = defaults.filter { name, _ in !present.contains { isSameName($0, name) } }
    if missing.isEmpty { return nil }
    return SQL(
      joining: missing.map { "\($0.value) AS \(identifier: $0.column)" as SQL }, separator: ", ")
  }

  /// Returns a reader of a statement's rows. Reuses the last reader if it is for the same statement
  /// and columns.
  func reader(of statement: borrowing Statement) -> RowReader {
    if let reader, reader.reads(statement) { return reader }
    let present = statement.columnNames
    // A write adds all columns except those of the key.
    let hasKey = keys.allSatisfy { key in present.contains { isSameName($0, key) } }
    let new = RowReader(
      statement, as: type, strategies: strategies,
      allowsMissingColumns: hasKey && !type.isReadOnly)
    reader = new
    return new
  }

  /// Returns a binder for the parameters of a write. Reuses the last binder if it is for the same
  /// statement.
  func binder(of write: RecordWrite, _ statement: borrowing Statement) throws(SQLiteError)
    -> RowBinder
  {
    let index = try index(of: write)
    if let binder = writes[index].binder, binder.binds(to: statement) { return binder }
    let new = RowBinder(statement, columns: table.columns.map(\.name), strategies: strategies)
    writes[index].binder = new
    return new
  }

  /// Returns a binder for the parameters of ``selectByKey`` or ``deleteByKey``. Reuses the last
  /// binder if it is for the same statement.
  func keyBinder(of statement: borrowing Statement) -> RowBinder {
    if let keyBinder, keyBinder.binds(to: statement) { return keyBinder }
    let new = RowBinder(statement, columns: keys, strategies: strategies, isPartial: true)
    keyBinder = new
    return new
  }

  /// Returns a reader of the values that records store in one column. Reuses the last reader if it
  /// is for the same column.
  func shapeReader(of column: String) -> ShapeReader {
    if let shapeReader, shapeReader.only == column { return shapeReader }
    let new = ShapeReader(strategies, only: column)
    shapeReader = new
    return new
  }

  /// Returns the SQL of a kind of write. It is created once and then cached.
  func text(of write: RecordWrite) throws(SQLiteError) -> String {
    writes[try index(of: write)].text
  }

  private func index(of write: RecordWrite) throws(SQLiteError) -> Int {
    if let index = writes.firstIndex(where: { $0.write == write }) { return index }
    writes.append((write, try write.sql(for: table).checkedText, nil))
    return writes.count - 1
  }
}

extension Statement {
  /// Binds the parts of a primary key to the parameters from 1 on, in the form in which the type
  /// stores them.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the number of parts differs from the
  ///   number of key columns, or an error of binding a part.
  mutating func bind<each Rest: Bindable>(
    key: any Bindable, _ rest: repeat each Rest, of plan: RecordPlan
  ) throws(SQLiteError) {
    var parameter = 1
    try bind(part: key, at: parameter, of: plan)
    for value in repeat each rest {
      parameter += 1
      guard parameter <= plan.keys.count else { break }
      try bind(part: value, at: parameter, of: plan)
    }
    guard parameter == plan.keys.count else {
      throw SQLiteError(
        .range,
        "the primary key of \(plan.type) has \(plan.keys.count) columns, not \(parameter)",
        sql: sql)
    }
  }

  private mutating func bind(
    part value: some Bindable, at parameter: Int, of plan: RecordPlan
  ) throws(SQLiteError) {
    if let stored = try plan.stored(part: value) {
      try bind(stored, at: parameter)
    } else {
      try bind(value, at: parameter)
    }
  }
}

/// A way to write a record. In the SQL of each case, parameter *n* is the value of the *n*-th
/// column.
enum RecordWrite: Equatable {
  /// Inserts a row, and fails if a row with the same key exists.
  case insert
  /// Inserts a row, or updates the row with the same key.
  case update
  /// Updates the row with the same key. If no such row exists, the statement changes nothing.
  case updateExisting
  /// Inserts a row, or updates the row that has the same values in the columns with these names.
  /// Returns the row.
  case updateMatching([String])
  /// Inserts a row with a generated key, and returns the row.
  case insertReturning

  func sql(for table: TablePlan) -> SQL {
    let columns = table.columns.map(\.name)
    func changed(on unique: [String]) -> [String] {
      columns.filter { name in
        !table.isKey(name) && !unique.contains { isSameName($0, name) }
      }
    }
    /// Returns the action that updates the existing row. The row keeps its key. At least one column
    /// must be set, so that the row is returned.
    func conflict(on unique: [String]) -> TablePlan.Conflict {
      let names = changed(on: unique)
      return .update(on: unique, changed: names.isEmpty ? [unique[0]] : names)
    }
    switch self {
    case .insert: return table.insert(columns)
    case .update: return table.insert(columns, conflict(on: table.keys))
    case .insertReturning: return "\(table.insert(columns)) RETURNING *"
    case .updateMatching(let unique):
      return "\(table.insert(columns, conflict(on: unique))) RETURNING *"
    case .updateExisting:
      let names = changed(on: table.keys)
      return table.update(names.isEmpty ? columns : names, bound: columns)
    }
  }

  /// Whether the write returns the row.
  var returnsRow: Bool {
    switch self {
    case .insert, .update, .updateExisting: false
    case .updateMatching, .insertReturning: true
    }
  }
}
