import Essentials
import SQLiteCore
import SQLiteMapping

/// A prepared INSERT for objects of one type with values for some properties, which gives them to the
/// object with the same primary value if there is one and that is allowed.
final class InsertStatement {
  let plan: ObjectPlan
  /// Whether the table's key is given, as the first of a row's values.
  let hasKey: Bool
  /// The properties whose values follow.
  let slots: [Int]
  /// Whether the object with the same primary value has a key that SQLite does not tell.
  private let mayKeepKey: Bool
  private let connection: Connection
  private var statement: Statement

  /// Prepares a statement.
  ///
  /// - Parameters:
  ///   - plan: The objects' type.
  ///   - hasKey: Whether the table's key is given.
  ///   - slots: The properties that are given, besides the key.
  ///   - rows: How many objects are inserted at once.
  ///   - insertsOnly: Whether a primary value that is there is an error.
  ///   - connection: Where.
  init(
    _ plan: ObjectPlan, hasKey: Bool, _ slots: [Int], rows: Int = 1, insertsOnly: Bool,
    _ connection: Connection
  ) throws {
    self.plan = plan
    self.slots = slots
    self.hasKey = hasKey
    self.connection = connection
    mayKeepKey = plan.primary != nil && plan.counting == nil
    let names = (hasKey ? [plan.key] : []) + slots.map { plan.properties[$0].name }
    statement = try connection.statement(
      plan.insertion(of: names, rows: rows, resolving: !insertsOnly))
  }

  /// Binds an object's stored forms.
  ///
  /// - Parameters:
  ///   - forms: One for each property.
  ///   - key: The key, if it is given.
  ///   - row: Which of the rows it is, from 0.
  /// - Throws: ``MagicError/missingValue(type:property:)`` if one is missing.
  func bind(_ forms: [CellContent.Form], key: Int64?, row: Int = 0) throws {
    let handle = statement.handle
    var parameter = Int32(truncatingIfNeeded: row * (slots.count + (hasKey ? 1 : 0)))
    if let key {
      parameter += 1
      try handle.bind(key, at: parameter)
    }
    for place in 0..<slots.count {
      parameter += 1
      try plan.bind(forms[slots[place]], of: slots[place], to: handle, at: parameter)
    }
  }

  /// Binds values, one for each of ``slots``.
  func bind(_ values: [Value], key: Int64?) throws {
    let handle = statement.handle
    var parameter: Int32 = 0
    if let key {
      parameter += 1
      try handle.bind(key, at: parameter)
    }
    for value in values {
      parameter += 1
      try handle.bind(value, at: parameter)
    }
  }

  /// Writes all rows that are bound, and returns how many were written.
  func run() throws -> Int { try statement.run().rows }

  /// Writes the object that is bound.
  ///
  /// - Parameter key: The key that is bound, if one is.
  /// - Returns: The object's z_index, or nil if SQLite does not tell it.
  func run(key: Int64?) throws -> Int64? {
    // RETURNING would cost twice as much as the INSERT (benchmark `insert`).
    if mayKeepKey { connection.forgetLastInsertedRowID() }
    let change = try statement.run()
    guard change.rows > 0 else { return nil }
    // An object that was there keeps its key, and nothing is inserted.
    if mayKeepKey, change.lastInsertedRowID == 0 { return nil }
    return key ?? change.lastInsertedRowID
  }
}

extension ObjectPlan {
  /// Binds the stored form of a property.
  ///
  /// - Throws: ``MagicError/missingValue(type:property:)`` if there is none.
  @inline(__always)
  func bind(
    _ form: CellContent.Form, of slot: Int, to handle: StatementHandle, at parameter: Int32
  ) throws {
    switch form {
    case .stored(let value): try handle.bind(value, at: parameter)
    case .data(let data): try handle.bind(bytes: data.bytes, at: parameter)
    case .unset where readers[slot].isOptional: try handle.bindNull(at: parameter)
    case .unset, .live, .reference, .links, .targets, .lazy:
      throw MagicError.missingValue(type: typeName, property: properties[slot].name)
    }
  }

  /// The statement that inserts objects with values for some columns, or gives them to the objects with
  /// the same primary values if that is what `resolving` says.
  fileprivate func insertion(of names: [String], rows: Int, resolving: Bool) -> SQL {
    var sql: SQL = "INSERT INTO \(identifier: table) "
    if names.isEmpty {
      sql.append("DEFAULT VALUES")
    } else {
      let row: SQL = "(\(SQL(joining: names.map { _ in "?" }, separator: ", ")))"
      let all = SQL(joining: Array(repeating: row, count: rows), separator: ", ")
      sql.append("(\(SQL(identifiers: names))) VALUES \(all)")
    }
    if let primary, !names.isEmpty, resolving {
      let updates = names.filter { $0 != key }.map { name -> SQL in
        "\(identifier: name) = excluded.\(identifier: name)"
      }
      let action: SQL =
        updates.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(SQL(joining: updates, separator: ", "))"
      sql.append(" ON CONFLICT (\(identifier: properties[primary].name)) \(action)")
    }
    return sql
  }
}
