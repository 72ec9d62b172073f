#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import SQLiteCore
import SQLiteMapping

/// A prepared INSERT for objects of one type with values for some properties, which gives them to the
/// object with the same primary value if there is one.
final class InsertStatement {
  let plan: ObjectPlan
  /// The properties, in the order of the parameters.
  let slots: [Int]
  /// Whether the first parameter is the table's key.
  let hasKey: Bool
  /// Whether the object with the same primary value has a key that SQLite does not tell.
  private let mayKeepKey: Bool
  private let connection: Connection
  private var statement: Statement

  init(_ plan: ObjectPlan, _ slots: [Int], _ connection: Connection) throws {
    self.plan = plan
    self.slots = slots
    self.connection = connection
    hasKey = plan.counting != nil && slots.first == plan.counting
    mayKeepKey = plan.primary != nil && plan.counting == nil
    statement = try connection.statement(plan.insertion(of: slots))
  }

  /// Binds stored forms.
  ///
  /// - Parameter forms: One for each property.
  /// - Throws: ``MagicError/missingValue(type:property:)`` if one is missing.
  func bind(_ forms: [CellContent.Form]) throws {
    let handle = statement.handle
    for place in 0..<slots.count {
      let parameter = Int32(truncatingIfNeeded: place + 1)
      switch forms[slots[place]] {
      case .stored(let value): try handle.bind(value, at: parameter)
      case .data(let data): try handle.bind(bytes: data.bytes, at: parameter)
      case .unset where plan.readers[slots[place]].isOptional:
        try handle.bindNull(at: parameter)
      case .unset, .live, .reference, .links, .targets, .lazy:
        throw MagicError.missingValue(
          type: plan.typeName, property: plan.properties[slots[place]].name)
      }
    }
  }

  /// Binds values, one for each of ``slots``.
  func bind(_ values: [Value]) throws {
    for place in 0..<values.count {
      try statement.handle.bind(values[place], at: Int32(truncatingIfNeeded: place + 1))
    }
  }

  /// Writes the object that is bound.
  ///
  /// - Parameter key: The key that is bound, if one is.
  /// - Returns: The object's z_index, or nil if SQLite does not tell it.
  func run(key: Int64?) throws -> Int64? {
    // RETURNING would cost twice as much as the INSERT (benchmark `insert`).
    if mayKeepKey { connection.forgetLastInsertedRowID() }
    let change = try statement.run()
    guard change.rows > 0 else { return nil }
    if hasKey { return key }
    // An object that was there keeps its key, and nothing is inserted.
    return mayKeepKey && change.lastInsertedRowID == 0 ? nil : change.lastInsertedRowID
  }
}

extension ObjectPlan {
  /// The statement that inserts an object with values for some properties, or gives them to the
  /// object with the same primary value.
  fileprivate func insertion(of slots: [Int]) -> SQL {
    let names = slots.map { properties[$0].name }
    var sql: SQL = "INSERT INTO \(identifier: table) "
    if names.isEmpty {
      sql.append("DEFAULT VALUES")
    } else {
      let parameters = SQL(joining: names.map { _ in "?" }, separator: ", ")
      sql.append("(\(SQL(identifiers: names))) VALUES (\(parameters))")
    }
    if let primary, !names.isEmpty {
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
