import Essentials
import SQLiteCore
import SQLiteMapping

/// The stored forms of some properties of an object, in ascending order of their slots.
typealias ResolvedValues = [(slot: Int, value: Value)]

/// A prepared INSERT for objects of one type. If the table already contains an object with the same
/// primary value, the statement updates that object or, with ``mustBeNew``, fails.
final class InsertStatement {
  let plan: ObjectPlan
  /// Whether the key of the table is bound, as the first value of a row.
  let hasKey: Bool
  /// Whether the statement fails for an existing primary value instead of updating the object.
  let mustBeNew: Bool
  /// Whether the type has a primary value other than the key, so that the statement may update an
  /// existing object. SQLite doesn't report the key of an object that was updated.
  private let mayUpdateExisting: Bool
  private let connection: Connection
  // Only one thread uses it, and nothing that runs inside `run`. An exclusivity check would cost as
  // much as a binding.
  @exclusivity(unchecked) private var statement: Statement

  /// Prepares the statement.
  ///
  /// - Parameters:
  ///   - plan: The plan of the objects' type.
  ///   - hasKey: Whether the key of the table is bound.
  ///   - rows: The number of objects that one run inserts.
  ///   - mustBeNew: Whether the statement fails for an existing primary value instead of updating
  ///     the object.
  ///   - connection: The connection.
  init(
    _ plan: ObjectPlan, hasKey: Bool, rows: Int = 1, mustBeNew: Bool, _ connection: Connection
  ) throws {
    self.plan = plan
    self.hasKey = hasKey
    self.mustBeNew = mustBeNew
    self.connection = connection
    mayUpdateExisting = plan.primary != nil && plan.autoIncrementSlot == nil
    unsafe statement = try connection.statement(
      plan.texts.statement(hasKey: hasKey, rows: rows, insertsOnly: mustBeNew))
  }

  /// Binds the stored forms of an object.
  ///
  /// - Parameters:
  ///   - values: The stored forms.
  ///   - first: The index of the object's first property in `values`.
  ///   - key: The key, or nil if ``hasKey`` is false.
  ///   - row: The index of the row.
  ///   - resolved: The stored forms that aren't in `values`, sorted by property.
  /// - Throws: ``MagicError/missingValue(type:property:)`` if a value is missing.
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

  /// Writes all bound rows and returns how many were written.
  func run() throws -> Int { try unsafe statement.run().rows }

  /// Writes the bound object.
  ///
  /// - Parameter key: The bound key, or nil if ``hasKey`` is false.
  /// - Returns: The object's z_index, or nil if no row was written or SQLite doesn't report its
  ///   key.
  func run(key: Int64?) throws -> Int64? {
    // RETURNING would cost twice as much as the INSERT (benchmark `insert`).
    if mayUpdateExisting { connection.forgetLastInsertedRowID() }
    let change = try unsafe statement.run()
    guard change.rows > 0 else { return nil }
    // An existing object was updated, and nothing was inserted. A node then reports the rowid of an
    // earlier insertion.
    if mayUpdateExisting, connection.isRemote && !mustBeNew || change.lastInsertedRowID == 0 {
      return nil
    }
    return key ?? change.lastInsertedRowID
  }
}

/// A prepared UPDATE that writes some properties of one object if other columns have expected
/// values.
final class UpdateStatement {
  let plan: ObjectPlan
  /// The indexes of the properties to write.
  let slots: [Int]
  @exclusivity(unchecked) private var statement: Statement

  /// Prepares the statement. Without properties to write, it is a SELECT that checks the row.
  ///
  /// - Parameters:
  ///   - plan: The plan of the objects' type.
  ///   - slots: The indexes of the properties to write.
  ///   - expected: The indexes of the properties with the expected values that are passed to `run`.
  ///   - connection: The connection.
  init(
    _ plan: ObjectPlan, _ slots: [Int], ifStill expected: [Int] = [], _ connection: Connection
  ) throws {
    self.plan = plan
    self.slots = slots
    unsafe statement = try connection.statement(plan.update(of: slots, ifStill: expected))
  }

  /// Writes the stored forms of an object.
  ///
  /// - Parameters:
  ///   - values: The stored forms.
  ///   - first: The index of the object's first property in `values`.
  ///   - zIndex: The object's z_index.
  ///   - resolved: The stored forms that aren't in `values`, sorted by property.
  ///   - expected: The values that the expected columns must have.
  /// - Returns: False if the row doesn't exist or doesn't have the expected values.
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
  /// Binds the copied value at an index to a parameter. Returns false if the value isn't in stored
  /// form.
  ///
  /// Reference-counted values are moved out and back. Copying one costs an atomic addition, which
  /// takes as long as binding the value (benchmark `insert`). Proof: one thread at a time writes a
  /// graph, and nothing that runs here reads the value at the index.
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
            // Reading the UTF-8 of a text in a variable would retain it too.
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
  /// The value to bind for a stored form; nil for any other form.
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
  /// - Throws: ``MagicError/missingValue(type:property:)`` if a value is missing.
  @inline(__always)
  fileprivate func bind(
    _ slots: [Int], of values: SlotCopies, _ first: Int, _ resolved: ResolvedValues,
    to handle: StatementHandle, after parameter: inout Int32
  ) throws {
    // `slots` and `resolved` are sorted by property.
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

  /// Returns the statement that writes some properties of the object with a key if other columns
  /// have expected values.
  fileprivate func update(of slots: [Int], ifStill expected: [Int]) -> SQL {
    if expected.isEmpty, slots.isEmpty { return texts.presence }
    if expected.isEmpty, slots.count == 1 { return texts.update(of: slots[0]) }
    var sql = slots.isEmpty ? rows.selectByKey("1") : rows.update(slots.map { properties[$0].name })
    for slot in expected { sql.append(" AND \(identifier: properties[slot].name) IS ?") }
    return sql
  }
}
