package import SQLiteCore

/// What one column stores for one value, apart from any statement, in the default forms.
package enum ColumnCoding {
  /// What a column of a type prefers to store, and whether the type has a nil.
  package static func column(of type: Any.Type) -> (type: ColumnType, isOptional: Bool) {
    let form = ColumnForm(of: type, strategies: MappingStrategies())
    return (form.type, form.isOptional)
  }

  /// What is stored for a value.
  ///
  /// - Throws: ``SQLiteError`` if the value cannot be stored, or what its encoding throws.
  package static func stored(_ value: some Encodable) throws -> Value {
    try ColumnForm(value, strategies: MappingStrategies()).value
  }

  /// The value of a type that is stored.
  ///
  /// - Throws: ``SQLiteError`` if something else is stored, or what the value's decoding throws.
  package static func value<Result: Decodable>(
    _ type: Result.Type, from stored: Value
  ) throws -> Result {
    if isKnown(type), let known = type as? any ColumnValue.Type,
      let value = try known.init(databaseValue: stored) as? Result
    {
      return value
    }
    return try Result(from: ValueDecoder(value: stored))
  }

  /// Says whether a type has a form of its own, that no coding of the user's decides.
  private static func isKnown(_ type: Any.Type) -> Bool {
    MappingStrategies().columnType(of: type) != nil
  }
}
