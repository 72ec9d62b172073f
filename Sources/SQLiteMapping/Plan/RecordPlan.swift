import Essentials
import SQLiteCore

/// A ``Record`` type on one connection: its table, the fitness of that table, and the readers and binders of its
/// values.
final class RecordPlan {
  let type: any Record.Type
  /// The table, with the properties that were seen so far.
  private(set) var table: TablePlan
  /// The table with the properties that it was last made to fit.
  private var fitting: TablePlan
  /// The text that selects the row with a key.
  let selectByKey: String
  /// The declared defaults of columns, as SQL. Empty if no write adds columns that the table lacks.
  private let defaults: [(column: String, value: SQL)]
  /// The text that deletes the row with a key.
  let deleteByKey: String

  /// The fitness of the table as this connection has seen it.
  var ensured = Fitness.none
  /// The number of the schema in which the table was made to fit, if it has triggers: another connection may have
  /// removed these, and no write fails for it.
  private(set) var ensuredSchema: Value?
  /// The number of the parameter for the first column of the key, in every write.
  private(set) var keyParameter: Int32 = 1
  /// The text and the binder of each write that was done: few, so that they are searched faster than hashed.
  private var writes: [(write: RecordWrite, text: String, binder: RowBinder?)] = []
  private var reader: RowReader?
  private var keyBinder: RowBinder?
  private var shapeReader: ShapeReader?
  /// Whether values are stored as they bind themselves.
  private let hasDefaultForms: Bool

  init(of type: any Record.Type) throws(SQLiteError) {
    self.type = type
    let strategies = type.strategies
    let keys = type.primaryKeys.map { strategies.keys.column(for: $0) }
    guard !keys.isEmpty else { throw SQLiteError(.misuse, "\(type) names no primary key") }
    guard type.primaryKeyType == .unique || keys.count == 1 else {
      throw SQLiteError(.misuse, "\(type) has several primary keys, so the caller must give them")
    }
    let key: TablePlan.Key =
      switch type.primaryKeyType {
      case .unique, .uuid: .given(keys)
      case .autoIncrement: .counted(keys[0])
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

  /// The writes that the table of a type is known to be fit for.
  enum Fitness: Comparable {
    case none
    /// Only rows that are there can be changed: new ones would have to fill columns that the type lacks.
    case changes
    case everything
  }

  var name: String { table.name }
  var keys: [String] { table.keys }
  var strategies: MappingStrategies { table.strategies }
  /// Whether no value was seen yet.
  var isUnknown: Bool { table.properties.isEmpty }

  /// Whether the database makes the key of a value that has none.
  var makesKey: Bool { type.primaryKeyType != .unique }

  /// Whether the database counts keys up.
  private var countsKeysUp: Bool {
    type.primaryKeyType == .autoIncrement || type.primaryKeyType == .computedInt
  }

  /// Makes a new key for a type whose keys are UUIDs.
  func newUUID() -> Value { strategies.uuids.value(for: UUID()) }

  /// Throws if the table belongs to others.
  func checkWritable() throws(SQLiteError) {
    guard type.isReadOnly else { return }
    throw SQLiteError(.readOnly, "\(type) is declared as read-only")
  }

  /// Learns the columns of a value, besides those known already. Nothing is learned if it throws.
  func learn(_ value: some Record) throws {
    let shape = try ShapeReader(strategies).columns(of: value)
    var columns = table.columns
    for var column in shape where table.index(ofColumn: column.name) == nil {
      // Whatever the table looks like: a connection that sees it for the first time compares it later.
      _ = try quotedIdentifier(column.name)
      // A property that a value before did not encode is optional, whatever its type.
      if !isUnknown { column.isOptional = true }
      columns.append(column)
    }
    for key in keys where !columns.contains(where: { isSameName($0.name, key) }) {
      throw SQLiteError(.misuse, "\(type) has no property for its primary key “\(key)”")
    }
    try checkKey(among: columns)
    var learned = table
    try learned.setProperties(columns.map { .init($0.name, $0) }, type.traits) { [type] reason in
      SQLiteError(.misuse, "\(type) does not suit its traits: \(reason)")
    }
    set(learned)
  }

  /// Forgets the columns that the table could not be given: every later write would fail because of them.
  func forgetUnfit() { set(fitting) }

  private func set(_ table: TablePlan) {
    self.table = table
    keyParameter = Int32((table.index(ofColumn: keys[0]) ?? 0) + 1)
    ensured = .none
    writes.removeAll()
  }

  /// Notes that the table fits the columns.
  func noteFit(_ fitness: Fitness, inSchema number: Value?) {
    fitting = table
    ensured = fitness
    ensuredSchema = number
  }

  /// Throws if the database counts keys up, and the property is not optional: new values would all have the
  /// same key, and overwrite each other.
  private func checkKey(among columns: [ColumnDefinition]) throws(SQLiteError) {
    guard countsKeysUp, let key = columns.first(where: { table.isKey($0.name) }), !key.isOptional
    else { return }
    throw SQLiteError(
      .misuse,
      "the database makes the key “\(key.name)” of \(type), so its property must be optional, and nil "
        + "in a new value")
  }

  /// As ``checkKey(among:)``, with a made-up value; if none can be made up, the first value is checked.
  func checkKeyOfExample() throws(SQLiteError) {
    guard countsKeysUp, let example = try? Placeholder.example(of: type),
      let columns = try? ShapeReader(strategies).columns(of: example)
    else { return }
    try checkKey(among: columns)
  }

  /// Returns the table as the type asks for it, as far as its values have shown.
  func definition() throws(SQLiteError) -> TableDefinition {
    if countsKeysUp,
      let index = table.index(ofColumn: keys[0]), table.columns[index].type != .integer
    {
      throw SQLiteError(.misuse, "the key “\(keys[0])” of \(type) counts up, but is not an integer")
    }
    return table.definition()
  }

  /// The unique indexes of the type's traits, which are known before its columns are.
  var uniqueIndexes: [IndexDefinition] {
    type.traits.compactMap { trait in
      guard case .unique = trait.kind else { return nil }
      return IndexDefinition(
        trait.properties.map { strategies.keys.column(for: $0) }, isUnique: true)
    }
  }

  /// The columns that full-text search looks into.
  var searchedColumns: [String] {
    type.traits.flatMap { trait in
      guard case .searched = trait.kind else { return [String]() }
      return trait.properties.map { strategies.keys.column(for: $0) }
    }
  }

  /// Returns the stored form of a part of a key, or nil if it is stored as it binds itself.
  func stored(part value: some Bindable) throws(SQLiteError) -> Value? {
    hasDefaultForms ? nil : try strategies.stored(bindable: value)
  }

  /// Returns the columns of a query for whole rows: all columns of the table, and the defaults of those that it lacks
  /// until the next write adds them. An optional property without a column is read as nil anyway.
  ///
  /// - Parameters:
  ///   - all: SQL for all columns of the table.
  ///   - connection: The connection.
  /// - Throws: ``SQLiteError``, also if there is no table.
  func columns(_ all: SQL = "*", on connection: Connection) throws(SQLiteError) -> SQL {
    guard let missing = try missingDefaults(on: connection) else { return all }
    return "\(all), \(missing)"
  }

  /// Returns the query for the row with a key.
  ///
  /// - Throws: ``SQLiteError``, also if there is no table.
  func selectByKey(on connection: Connection) throws(SQLiteError) -> SQL {
    guard let missing = try missingDefaults(on: connection) else {
      return SQL(unchecked: selectByKey)
    }
    return table.selectByKey("*, \(missing)")
  }

  /// Returns the defaults of columns that the table lacks, as columns of a query; nil if it lacks none of them.
  private func missingDefaults(on connection: Connection) throws(SQLiteError) -> SQL? {
    if defaults.isEmpty { return nil }
    let present = try connection.statement(SQL(unchecked: selectByKey)).columnNames
    let missing = defaults.filter { name, _ in !present.contains { isSameName($0, name) } }
    if missing.isEmpty { return nil }
    return SQL(
      joining: missing.map { "\($0.value) AS \(identifier: $0.column)" as SQL }, separator: ", ")
  }

  /// Returns the reader of the rows of a statement, the last one again if it fits.
  func reader(of statement: borrowing Statement) -> RowReader {
    if let reader, reader.reads(statement) { return reader }
    let present = statement.columnNames
    // A write adds all columns but those of the key.
    let hasKey = keys.allSatisfy { key in present.contains { isSameName($0, key) } }
    let new = RowReader(
      statement, as: type, strategies: strategies,
      allowsMissingColumns: hasKey && !type.isReadOnly)
    reader = new
    return new
  }

  /// Returns the binder of the parameters of a write, the last one again if it is for the same statement.
  func binder(of write: RecordWrite, _ statement: borrowing Statement) throws(SQLiteError)
    -> RowBinder
  {
    let index = try index(of: write)
    if let binder = writes[index].binder, binder.binds(to: statement) { return binder }
    let new = RowBinder(statement, columns: table.columns.map(\.name), strategies: strategies)
    writes[index].binder = new
    return new
  }

  /// Returns the binder of the parameters of ``selectByKey`` or ``deleteByKey``, the last one again if it is
  /// for the same statement.
  func keyBinder(of statement: borrowing Statement) -> RowBinder {
    if let keyBinder, keyBinder.binds(to: statement) { return keyBinder }
    let new = RowBinder(statement, columns: keys, strategies: strategies, isPartial: true)
    keyBinder = new
    return new
  }

  /// Returns what reads a column of values, the last one again if it is for the same column.
  func shapeReader(of column: String) -> ShapeReader {
    if let shapeReader, shapeReader.only == column { return shapeReader }
    let new = ShapeReader(strategies, only: column)
    shapeReader = new
    return new
  }

  /// Returns the text of a write, made once.
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
  /// Binds the values of a primary key, as the type stores them.
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
        "the primary key of \(plan.type) has \(plan.keys.count) parts, and not \(parameter)",
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

/// A way to write a record. In the SQL of all of them, parameter *n* is the *n*-th column.
enum RecordWrite: Equatable {
  /// A new row.
  case insert
  /// A new row, or the row with the same key changed.
  case update
  /// The row with the same key changed.
  case updateExisting
  /// A new row, or the row changed that has the same values in these columns.
  case updateMatching([String])
  /// A new row whose key the database makes; the row is returned.
  case insertReturning

  func sql(for table: TablePlan) -> SQL {
    let columns = table.columns.map(\.name)
    func changed(on unique: [String]) -> [String] {
      columns.filter { name in
        !table.isKey(name) && !unique.contains { isSameName($0, name) }
      }
    }
    /// The row that is there keeps its key. Something must be set, for the row to be returned.
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

  /// Whether the row is handed back.
  var returnsRow: Bool {
    switch self {
    case .insert, .update, .updateExisting: false
    case .updateMatching, .insertReturning: true
    }
  }
}
