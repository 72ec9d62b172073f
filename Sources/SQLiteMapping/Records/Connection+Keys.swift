public import SQLiteCore

extension Connection {
  /// Makes a key for a new value, without using it up.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The number that the next value gets, if no other is written before it, or a new UUID
  ///   as it is stored; nil if the caller makes the keys of the type.
  /// - Throws: ``SQLiteError``.
  public func makeKey(for type: (some Record).Type) throws -> Value? {
    let plan = try plan(of: type)
    switch type.primaryKeyType {
    case .unique: return nil
    case .uuid: return plan.newUUID()
    case .computedInt, .autoIncrement:
      let greatest = try reading(plan, without: 0) { try greatestKey(of: plan.table) }
      guard greatest < .max else { throw SQLiteError(.full, "there is no greater key") }
      return .integer(greatest + 1)
    }
  }
}
