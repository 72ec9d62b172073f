package import SQLiteCore

/// A table of the database to which a patch is applied, with its prepared statements.
///
/// The statements are shared by all rows of the patch.
final class PatchTarget {
  let table: Patch.Table
  /// The name of the table in the database.
  let name: String
  /// The names of the columns in the database, in the order of the patch's columns.
  let columns: [String]
  let keyColumns: [Int]
  private let connection: Connection
  private static let maximumUpdateCount = 64
  private let texts: TargetTexts
  private var select: ReusableStatement?
  private var insert: ReusableStatement?
  private var delete: ReusableStatement?
  /// The prepared UPDATE statements, by the indexes of the columns that they set; at most
  /// `maximumUpdateCount`.
  private var updates: [[Int]: ReusableStatement] = [:]
  /// The UPDATE statement that was used last; nil if there was none. Most updates of a patch set
  /// the same columns.
  private var last: (columns: [Int], update: ReusableStatement)?
  // Buffers for `applyIfExpected`, stored to reuse their memory.
  private var fields = RowFields()
  private var setColumns: [Int] = []

  /// Creates the target for a table of a patch.
  ///
  /// - Throws: ``PatchError`` if the table is missing or doesn't match the patch; `SQLiteError` if
  ///   the schema can't be read.
  init(_ table: Patch.Table, on connection: Connection) throws {
    func refused(_ difference: String) -> PatchError {
      PatchError(reason: .schema(table: table.name, difference: difference))
    }
    let name = table.name
    let keyColumns = table.keyColumns
    guard Patch.holds(table: name) else { throw refused("it belongs to this library") }
    guard try connection.tableExists(name) else { throw refused("there is no such table") }
    let present = try connection.columns(of: name)
    let stored = present.filter { $0.kind == .ordinary }
    guard present.contains(where: { $0.primaryKeyPosition > 0 }) else {
      throw PatchError(reason: .noKey(table: name))
    }
    let columns = try Self.columns(table, stored, refused)
    let keys = Set(keyColumns.map { asciiLowercased(columns[$0]) })
    let presentKeys = Set(
      present.filter { $0.primaryKeyPosition > 0 }.map { asciiLowercased($0.name) })
    guard keys == presentKeys else {
      throw refused("it has another primary key: \(presentKeys.sorted().joined(separator: ", "))")
    }
    self.table = table
    self.name = name
    self.columns = columns
    self.keyColumns = keyColumns
    self.connection = connection
    texts = TargetTexts(table: name, columns: columns, keyColumns: keyColumns)
  }

  /// Returns the names of the table's columns that correspond to the columns of the patch. They are
  /// matched by name if the patch contains names, and otherwise by position.
  private static func columns(
    _ table: Patch.Table, _ stored: [SchemaColumn], _ refused: (String) -> PatchError
  ) throws -> [String] {
    guard let names = table.columns else {
      let count = table.keyPositions.count
      guard count <= stored.count else {
        throw refused("it has \(stored.count) columns, but the patch has \(count)")
      }
      return stored.prefix(count).map(\.name)
    }
    return try names.map { name in
      guard let column = stored.first(where: { asciiLowercased($0.name) == asciiLowercased(name) })
      else { throw refused("it has no column “\(name)”") }
      return column.name
    }
  }

  func key(of row: Patch.Row) -> [Value] { table.key(of: row).values }

  private func kept(
    _ statement: inout ReusableStatement?, _ sql: @autoclosure () -> String
  ) throws -> ReusableStatement {
    if let statement { return statement }
    let made = ReusableStatement(try connection.statement(SQL(unchecked: sql())))
    statement = made
    return made
  }

  private func updateStatement(setting columns: [Int]) throws -> ReusableStatement {
    if let last, last.columns == columns { return last.update }
    if updates.count == Self.maximumUpdateCount { updates = [:] }
    let update = try kept(&updates[columns], texts.update(setting: columns))
    last = (columns, update)
    return update
  }

  /// Returns the current values of the row with a key; nil if the row doesn't exist.
  func current(_ key: [Value]) throws -> [Value]? {
    let select = try kept(&select, texts.select)
    try select.bind(key)
    guard try select.statement.step() else { return nil }
    let row = columns.indices.map { column in
      // Patches represent text that isn't valid UTF-8 as a blob.
      do { return try select.statement.value(at: column) } catch {
        return .blob(select.statement.blob(at: column))
      }
    }
    try select.statement.reset()
    return row
  }

  func insert(_ values: [Value?]) throws {
    let insert = try kept(&insert, texts.insert)
    try insert.bind(values)
    try insert.statement.run()
  }

  func delete(_ key: [Value]) throws {
    let delete = try kept(&delete, texts.delete)
    try delete.bind(key)
    try delete.statement.run()
  }

  /// Sets columns of the row with a key. `values` contains the index and the new value of each.
  func update(_ values: [(column: Int, value: Value)], _ key: [Value]) throws {
    guard !values.isEmpty else { return }
    let update = try updateStatement(setting: values.map(\.column))
    try update.bind(values.map(\.value) + key)
    try update.statement.run()
  }

  /// Applies a row of the patch if the row in the database has the expected values. Compares and
  /// binds the encoded values without decoding them.
  ///
  /// - Returns: Whether the row had the expected values or, for an insert, didn't exist. If false,
  ///   nothing has changed.
  func applyIfExpected(_ row: Patch.Row) throws -> Bool {
    var (fields, setColumns) = (RowFields(), [Int]())
    swap(&fields, &self.fields)
    swap(&setColumns, &self.setColumns)
    defer { (self.fields, self.setColumns) = (fields, setColumns) }
    row.read(into: &fields)
    let kind = row.kind
    let select = try kept(&select, texts.select)
    try select.bind(keyColumns, of: kind == .insert ? fields.new : fields.old, fields.cursor)
    let exists = try select.statement.step()
    let isExpected = exists == (kind != .insert) && (!exists || select.matches(fields))
    if exists { try select.statement.reset() }
    guard isExpected else { return false }
    switch kind {
    case .insert:
      let insert = try kept(&insert, texts.insert)
      try insert.bind(columns.indices, of: fields.new, fields.cursor)
      try insert.statement.run()
    case .delete:
      let delete = try kept(&delete, texts.delete)
      try delete.bind(keyColumns, of: fields.old, fields.cursor)
      try delete.statement.run()
    case .update:
      setColumns.removeAll(keepingCapacity: true)
      for column in columns.indices where fields.new[column].isDefined { setColumns.append(column) }
      guard !setColumns.isEmpty else { return true }
      let update = try updateStatement(setting: setColumns)
      try update.bind(setColumns, of: fields.new, fields.cursor)
      try update.bind(keyColumns, of: fields.old, fields.cursor, after: setColumns.count)
      try update.statement.run()
    }
    return true
  }

  /// Stores temporary values in those columns of an update on which unique indexes depend, except
  /// where the current value is NULL.
  ///
  /// - Parameters:
  ///   - values: The indexes of the updated columns and their final values.
  ///   - current: The current values of the row.
  ///   - key: The key of the row.
  /// - Returns: Whether the temporary values were stored; false if a constraint rejected all
  ///   attempts.
  func assignTemporaryValues(
    _ values: [(column: Int, value: Value)], current: [Value], _ key: [Value]
  ) throws -> Bool {
    let unique = try uniqueColumns()
    let parked = values.map(\.column).filter { unique.contains($0) && !current[$0].isNull }
    // Try successively smaller values, which a CHECK or an index expression may require.
    for shift in stride(from: 2 as Int64, to: 62, by: 4) {
      do {
        try update(
          parked.map { ($0, Value.random(like: current[$0], atMost: .max >> shift)) }, key)
        return true
      } catch let error as SQLiteError where [.constraint, .error].contains(error.code.primary) {
        continue
      }
    }
    return false
  }

  /// Returns the indexes of the columns on which unique indexes depend. Returns all columns if a
  /// unique index is partial or contains an expression or a generated column.
  private func uniqueColumns() throws -> Set<Int> {
    var found: Set<Int> = []
    for index in try connection.existingIndexes(of: name) where index.isUnique {
      let places = index.columns.map { column in
        columns.firstIndex { asciiLowercased($0) == column.map(asciiLowercased) }
      }
      if index.isPartial || places.contains(nil) { return Set(columns.indices) }
      found.formUnion(places.compactMap(\.self))
    }
    return found
  }
}

/// Returns the condition that a key column equals a value in storage class and bytes. `=` alone
/// isn't sufficient: with `NOCASE` or between numeric classes, it also matches other values. The
/// condition still contains `=` so that SQLite can use the index.
package func sameKey(_ column: SQL, as value: SQL) -> SQL {
  "\(column) = \(value) AND \(column) = \(value) COLLATE BINARY AND typeof(\(column)) = typeof(\(value))"
}

extension Value {
  /// Returns a random number from 1 to `limit` in the storage class of another value; NULL for
  /// NULL.
  fileprivate static func random(like other: Value, atMost limit: Int64) -> Value {
    let number = Int64.random(in: 1...limit)
    return switch other {
    case .null: .null
    case .integer: .integer(number)
    case .real: .real(Double(number))
    case .text: .text("\(number)")
    case .blob: .blob(Array("\(number)".utf8))
    }
  }
}

/// The SQL of the statements that read and change the rows of a patch's table.
private struct TargetTexts {
  let select: String
  let insert: String
  let delete: String
  private let title: String
  private let columns: [String]
  private let keyColumns: [String]

  init(table: String, columns names: [String], keyColumns keys: [Int]) {
    columns = names.map { SQL("\(identifier: $0)").text }
    keyColumns = keys.map { [columns] in columns[$0] }
    title = SQL("main.\(identifier: table)").text
    let list = columns.joined(separator: ", ")
    let condition = Self.condition(keyColumns, from: 1)
    let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    select = "SELECT \(list) FROM \(title) WHERE \(condition)"
    insert = "INSERT OR ABORT INTO \(title) (\(list)) VALUES (\(values))"
    delete = "DELETE FROM \(title) WHERE \(condition)"
  }

  func update(setting set: [Int]) -> String {
    let list = set.enumerated().map { "\(columns[$1]) = ?\($0 + 1)" }.joined(separator: ", ")
    let condition = Self.condition(keyColumns, from: set.count + 1)
    return "UPDATE OR ABORT \(title) SET \(list) WHERE \(condition)"
  }

  /// Returns the condition that selects the row with a key. The parameters of the condition are
  /// numbered from `number`.
  private static func condition(_ columns: [String], from number: Int) -> String {
    columns.enumerated().map { index, column in
      sameKey(SQL(unchecked: column), as: SQL(unchecked: "?\(number + index)")).text
    }.joined(separator: " AND ")
  }
}

/// A prepared statement that is run for several rows of a patch.
private final class ReusableStatement {
  var statement: Statement

  init(_ statement: consuming Statement) { self.statement = statement }

  /// Binds a value to each parameter, in order; nil binds NULL.
  func bind(_ values: [Value?]) throws {
    statement.handle.beginRow()
    for (index, value) in values.enumerated() {
      try statement.bind(value ?? .null, at: index + 1)
    }
  }

  /// Binds the encoded values of some columns to consecutive parameters.
  ///
  /// - Parameters:
  ///   - columns: The indexes of the columns whose values are bound.
  ///   - fields: The locations of the values of all columns.
  ///   - cursor: The bytes that contain the values.
  ///   - count: The number of parameters that are already bound.
  func bind(
    _ columns: some Collection<Int>, of fields: [Field], _ cursor: ChangesetCursor,
    after count: Int = 0
  ) throws {
    let handle = statement.handle
    if count == 0 { handle.beginRow() }
    for (index, column) in zip(Int32(count + 1)..., columns) {
      try handle.bind(fields[column], of: cursor, at: index)
    }
  }

  /// Returns whether the current row has the values that the patch expects.
  func matches(_ fields: RowFields) -> Bool {
    let handle = statement.handle
    for (column, field) in zip(Int32(0)..., fields.old) where field.isDefined {
      guard handle.column(column, is: field, of: fields.cursor) else { return false }
    }
    return true
  }
}
