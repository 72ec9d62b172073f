package import SQLiteCore

/// A table of a patch as it is in the database that the patch is applied to, with its SQL.
struct PatchTarget {
  let table: Patch.Table
  /// The table's name in the database.
  let name: String
  /// The columns in the database, in the order of the patch's.
  let columns: [String]
  let keyColumns: [Int]
  private let select: String
  private let insert: String
  private let delete: String
  private let updates: UpdateTexts

  /// Finds the table.
  ///
  /// - Throws: ``PatchError`` if it does not fit; `SQLiteError`.
  init(_ table: Patch.Table, on connection: Connection) throws {
    func refused(_ difference: String) -> PatchError {
      PatchError(reason: .schema(table: table.name, difference: difference))
    }
    self.table = table
    name = table.name
    keyColumns = table.keyColumns
    guard Patch.holds(table: name) else { throw refused("it is this library's own") }
    guard try connection.tableExists(name) else { throw refused("there is no such table") }
    let present = try connection.columns(of: name)
    let stored = present.filter { $0.kind == .ordinary }
    guard present.contains(where: { $0.primaryKeyPosition > 0 }) else {
      throw PatchError(reason: .noKey(table: name))
    }
    columns = try Self.columns(table, stored, refused)
    let keys = Set(keyColumns.map { [columns] in asciiLowercased(columns[$0]) })
    let presentKeys = Set(
      present.filter { $0.primaryKeyPosition > 0 }.map { asciiLowercased($0.name) })
    guard keys == presentKeys else {
      throw refused("its primary key is \(presentKeys.sorted().joined(separator: ", "))")
    }
    let quoted = columns.map { SQL("\(identifier: $0)").text }
    let title = SQL("\(identifier: name)").text
    let list = quoted.joined(separator: ", ")
    let condition = Self.condition(keyColumns.map { quoted[$0] }, from: 1)
    select = "SELECT \(list) FROM main.\(title) WHERE \(condition)"
    let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    insert = "INSERT OR ABORT INTO main.\(title) (\(list)) VALUES (\(values))"
    delete = "DELETE FROM main.\(title) WHERE \(condition)"
    updates = UpdateTexts(table: title, columns: quoted, keyColumns: keyColumns)
  }

  /// Finds the columns by their names if these are known, else by their places.
  private static func columns(
    _ table: Patch.Table, _ stored: [SchemaColumn], _ refused: (String) -> PatchError
  ) throws -> [String] {
    guard let names = table.columns else {
      let count = table.keyPositions.count
      guard count <= stored.count else {
        throw refused("it has \(stored.count) columns, and the patch \(count)")
      }
      return stored.prefix(count).map(\.name)
    }
    return try names.map { name in
      guard let column = stored.first(where: { asciiLowercased($0.name) == asciiLowercased(name) })
      else { throw refused("it has no column “\(name)”") }
      return column.name
    }
  }

  /// Returns the condition that finds the row with a key whose values are parameters from a number on.
  fileprivate static func condition(_ columns: [String], from number: Int) -> String {
    columns.enumerated().map { index, column in
      sameKey(SQL(unchecked: column), as: SQL(unchecked: "?\(number + index)")).text
    }.joined(separator: " AND ")
  }

  func key(of row: Patch.Row) -> [Value] { table.key(of: row).values }

  /// Returns the row with a key as it is now.
  func current(_ key: [Value], on connection: Connection) throws -> [Value]? {
    var statement = try connection.statement(SQL(unchecked: select))
    for (index, value) in key.enumerated() { try statement.bind(value, at: index + 1) }
    guard try statement.step() else { return nil }
    return columns.indices.map { column in
      // Text that is not UTF-8 is a blob in patches.
      do { return try statement.value(at: column) } catch {
        return .blob(statement.blob(at: column))
      }
    }
  }

  func insert(_ values: [Value?], on connection: Connection) throws {
    var statement = try connection.statement(SQL(unchecked: insert))
    for (index, value) in values.enumerated() { try statement.bind(value ?? .null, at: index + 1) }
    try statement.run()
  }

  func delete(_ key: [Value], on connection: Connection) throws {
    var statement = try connection.statement(SQL(unchecked: delete))
    for (index, value) in key.enumerated() { try statement.bind(value, at: index + 1) }
    try statement.run()
  }

  /// Sets columns of the row with a key.
  func update(_ values: [(column: Int, value: Value)], _ key: [Value], on connection: Connection)
    throws
  {
    guard !values.isEmpty else { return }
    var statement = try connection.statement(SQL(unchecked: updates.text(setting: values)))
    var parameter = 1
    for (_, value) in values {
      try statement.bind(value, at: parameter)
      parameter += 1
    }
    for value in key {
      try statement.bind(value, at: parameter)
      parameter += 1
    }
    try statement.run()
  }

  /// Gives the columns that an update sets temporary values, as far as a unique index needs them.
  ///
  /// - Parameters:
  ///   - values: The values of the update.
  ///   - current: The row as it is.
  ///   - key: The row's key.
  ///   - connection: The connection.
  /// - Returns: Whether it was possible.
  func park(
    _ values: [(column: Int, value: Value)], current: [Value], _ key: [Value],
    on connection: Connection
  ) throws -> Bool {
    let unique = try uniqueColumns(on: connection)
    let parked = values.map(\.column).filter { unique.contains($0) && !current[$0].isNull }
    // Shorter and shorter ones, which a CHECK or the expression of an index may need.
    for shift in stride(from: 2 as Int64, to: 62, by: 4) {
      do {
        try update(
          parked.map { ($0, Value.random(like: current[$0], atMost: .max >> shift)) }, key,
          on: connection)
        return true
      } catch let error as SQLiteError where [.constraint, .error].contains(error.code.primary) {
        continue
      }
    }
    return false
  }

  /// The columns that unique indexes depend on: all of them where an index has a condition, an expression or a
  /// generated column.
  private func uniqueColumns(on connection: Connection) throws -> Set<Int> {
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

/// Returns the condition that a column of a key has a value of the same storage class and bytes. By `=` alone, which is
/// for the index, `NOCASE` and numbers of another class would find another row than the patch was made for.
package func sameKey(_ column: SQL, as value: SQL) -> SQL {
  "\(column) = \(value) AND \(column) = \(value) COLLATE BINARY AND typeof(\(column)) = typeof(\(value))"
}

extension Value {
  /// Returns a random value of the storage class of another one.
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

/// The SQL of the updates of a table, made once for each set of columns: mostly all rows change the same ones.
private final class UpdateTexts {
  private let table: String
  private let columns: [String]
  private let keyColumns: [String]
  private var last: (columns: [Int], text: String) = ([], "")
  private var texts: [[Int]: String] = [:]

  /// - Parameters:
  ///   - table: The table's name as SQL.
  ///   - columns: The columns' names as SQL.
  ///   - keyColumns: The indexes of those of the key.
  init(table: String, columns: [String], keyColumns: [Int]) {
    self.table = table
    self.columns = columns
    self.keyColumns = keyColumns.map { columns[$0] }
  }

  func text(setting values: [(column: Int, value: Value)]) -> String {
    if last.columns.count == values.count,
      values.indices.allSatisfy({ last.columns[$0] == values[$0].column })
    {
      return last.text
    }
    let set = values.map(\.column)
    let text = texts[set] ?? make(set)
    texts[set] = text
    last = (set, text)
    return text
  }

  private func make(_ set: [Int]) -> String {
    let list = set.enumerated().map { "\(columns[$1]) = ?\($0 + 1)" }.joined(separator: ", ")
    let condition = PatchTarget.condition(keyColumns, from: set.count + 1)
    return "UPDATE OR ABORT main.\(table) SET \(list) WHERE \(condition)"
  }
}
