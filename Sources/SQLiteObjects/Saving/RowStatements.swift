import Essentials
import SQLiteCore
import SQLiteMapping

/// Stored forms of properties, in the order of these.
typealias ResolvedValues = [(slot: Int, value: Value)]

/// A prepared INSERT for objects of one type, which gives the values to the object with the same primary
/// value if there is one and that is allowed.
final class InsertStatement {
  let plan: ObjectPlan
  /// Whether the table's key is given, as the first of a row's values.
  let hasKey: Bool
  /// Whether a primary value that is there is an error.
  let mustBeNew: Bool
  /// Whether the object with the same primary value has a key that SQLite does not tell.
  private let mayKeepKey: Bool
  private let connection: Connection
  // Used by one thread, and by nothing that runs inside a run of it: checking that costs as much as binding.
  @exclusivity(unchecked) private var statement: Statement

  /// Prepares a statement.
  ///
  /// - Parameters:
  ///   - plan: The objects' type.
  ///   - hasKey: Whether the table's key is given.
  ///   - rows: How many objects are inserted at once.
  ///   - mustBeNew: Whether a primary value that is there is an error.
  ///   - connection: The connection.
  init(
    _ plan: ObjectPlan, hasKey: Bool, rows: Int = 1, mustBeNew: Bool, _ connection: Connection
  ) throws {
    self.plan = plan
    self.hasKey = hasKey
    self.mustBeNew = mustBeNew
    self.connection = connection
    mayKeepKey = plan.primary != nil && plan.counting == nil
    unsafe statement = try connection.statement(
      plan.texts.statement(hasKey: hasKey, rows: rows, insertsOnly: mustBeNew))
  }

  /// Binds an object's stored forms.
  ///
  /// - Parameters:
  ///   - values: The stored forms.
  ///   - first: The place of the object's first property in them.
  ///   - key: The key, if it is given.
  ///   - row: The number of the row, from 0.
  ///   - resolved: The stored forms that aren't among the object's values, by their properties in order.
  /// - Throws: ``MagicError/missingValue(type:property:)`` if one is missing.
  func bind(
    _ values: SlotCopies, _ first: Int, key: Int64?, row: Int = 0, _ resolved: ResolvedValues
  ) throws {
    let handle = unsafe statement.handle
    if row == 0 { handle.beginRow() }
    var parameter = Int32(truncatingIfNeeded: row * (plan.columns.count + (hasKey ? 1 : 0)))
    if let key {
      parameter += 1
      try handle.bind(key, at: parameter)
    }
    try plan.bind(plan.columns, of: values, first, resolved, to: handle, after: &parameter)
  }

  /// Writes all rows that are bound, and returns how many were written.
  func run() throws -> Int { try unsafe statement.run().rows }

  /// Writes the object that is bound.
  ///
  /// - Parameter key: The key that is bound, if one is.
  /// - Returns: The object's z_index, or nil if SQLite does not tell it.
  func run(key: Int64?) throws -> Int64? {
    // RETURNING would cost twice as much as the INSERT (benchmark `insert`).
    if mayKeepKey { connection.forgetLastInsertedRowID() }
    let change = try unsafe statement.run()
    guard change.rows > 0 else { return nil }
    // An object that was there keeps its key, and nothing is inserted. A node tells an earlier row's number then.
    if mayKeepKey, connection.isRemote && !mustBeNew || change.lastInsertedRowID == 0 { return nil }
    return key ?? change.lastInsertedRowID
  }
}

/// A prepared UPDATE that gives new values to some properties of one object, if others are as expected.
final class UpdateStatement {
  let plan: ObjectPlan
  /// The properties.
  let slots: [Int]
  @exclusivity(unchecked) private var statement: Statement

  /// Prepares a statement; a SELECT if there are no properties to write.
  init(
    _ plan: ObjectPlan, _ slots: [Int], ifStill expected: [Int] = [], _ connection: Connection
  ) throws {
    self.plan = plan
    self.slots = slots
    unsafe statement = try connection.statement(plan.update(of: slots, ifStill: expected))
  }

  /// Writes an object's stored forms.
  ///
  /// - Parameters:
  ///   - values: The stored forms.
  ///   - first: The place of the object's first property in them.
  ///   - zIndex: The object's z_index.
  ///   - resolved: The stored forms that aren't among the object's values, by their properties in order.
  ///   - expected: The values that the expected columns must have.
  /// - Returns: False if the object is not there, or not as expected.
  func run(
    _ values: SlotCopies, _ first: Int, _ zIndex: Int64, _ resolved: ResolvedValues = [],
    ifStill expected: [Value] = []
  ) throws -> Bool {
    let handle = unsafe statement.handle
    handle.beginRow()
    var parameter: Int32 = 0
    try plan.bind(slots, of: values, first, resolved, to: handle, after: &parameter)
    parameter += 1
    try handle.bind(zIndex, at: parameter)
    for value in expected {
      parameter += 1
      try handle.bind(value, at: parameter)
    }
    if slots.isEmpty {
      let isRow = try unsafe statement.step()
      try unsafe statement.reset()
      return isRow
    }
    return try unsafe statement.run().rows > 0
  }
}

extension SlotCopies {
  /// Binds the value at a place; returns false for a form that is none.
  ///
  /// What is counted is taken out and put back: a copy is counted by atomic additions, which take as long as binding
  /// the value (benchmark `insert`). Proof: one thread at a time writes a graph, and nothing that runs here
  /// reads the place.
  @inline(__always)
  fileprivate func bind(
    _ place: Int, to handle: StatementHandle, at parameter: Int32
  ) throws -> Bool {
    try withForm(place) { form in
      switch form {
      case .stored(.null): try handle.bindNull(at: parameter)
      case .stored(.integer(let integer)): try handle.bind(integer, at: parameter)
      case .stored(.real(let real)): try handle.bind(real, at: parameter)
      case .stored(.text), .stored(.blob), .data:
        try unsafe withUnsafeMutablePointer(to: &form) { form in
          switch unsafe form.move() {
          case .stored(.text(let text)):
            defer { unsafe form.initialize(to: .stored(.text(text))) }
            // A text that is asked for its UTF-8 in a variable is counted too.
            let isBound: Void? = try unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
              try unsafe handle.bind(
                bytes: UnsafeRawBufferPointer(bytes).bytes, asText: true, at: parameter)
            }
            if isBound == nil { try handle.bind(text, at: parameter) }
          case .stored(.blob(let bytes)):
            defer { unsafe form.initialize(to: .stored(.blob(bytes))) }
            try handle.bind(.blob(bytes), at: parameter)
          case .data(let data):
            defer { unsafe form.initialize(to: .data(data)) }
            try handle.bind(bytes: data.bytes, at: parameter)
          case let other: unsafe form.initialize(to: other)
          }
        }
      case .unset, .live, .reference, .links, .targets, .lazy: return false
      }
      return true
    }
  }
}

extension _CellValue.Form {
  /// The value that is bound for a stored form; nil for a form that is none.
  var boundValue: Value? {
    switch self {
    case .stored(let value): value
    case .data(let data): data.databaseValue
    case .unset, .live, .reference, .links, .targets, .lazy: nil
    }
  }
}

extension ObjectPlan {
  /// Binds the stored forms of properties.
  ///
  /// - Throws: ``MagicError/missingValue(type:property:)`` if one is missing.
  @inline(__always)
  fileprivate func bind(
    _ slots: [Int], of values: SlotCopies, _ first: Int, _ resolved: ResolvedValues,
    to handle: StatementHandle, after parameter: inout Int32
  ) throws {
    // Both are in the order of the properties.
    var next = 0
    for slot in slots {
      parameter += 1
      while next < resolved.count, resolved[next].slot < slot { next += 1 }
      if next < resolved.count, resolved[next].slot == slot {
        try handle.bind(resolved[next].value, at: parameter)
      } else if try !values.bind(first + slot, to: handle, at: parameter) {
        guard case .unset = values[first + slot], readers[slot].isOptional else {
          throw MagicError.missingValue(type: typeName, property: properties[slot].name)
        }
        try handle.bindNull(at: parameter)
      }
    }
  }

  /// The statement that writes some properties of the object with a key if others are as expected.
  fileprivate func update(of slots: [Int], ifStill expected: [Int]) -> SQL {
    if expected.isEmpty, slots.isEmpty { return texts.presence }
    if expected.isEmpty, slots.count == 1 { return texts.update(of: slots[0]) }
    var sql = slots.isEmpty ? rows.selectByKey("1") : rows.update(slots.map { properties[$0].name })
    for slot in expected { sql.append(" AND \(identifier: properties[slot].name) IS ?") }
    return sql
  }
}
