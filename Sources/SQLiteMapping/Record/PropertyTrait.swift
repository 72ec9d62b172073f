public import SQLiteCore

/// What is to be known of a property besides its type.
///
///     static let traits: [PropertyTrait] = [
///       .unique("email"), .indexed("country", "name"), .default("score", 0), .searched("notes"),
///     ]
///
/// Properties are named as they are in Swift. A name that the type does not have is an error.
public struct PropertyTrait: Sendable {
  package enum Kind: Sendable {
    case unique
    case indexed
    case searched
    case defaultValue(any Bindable & Sendable)
    case onDelete(DeleteRule)
    case references(ColumnDefinition.Reference, any Record.Type)
  }

  package let kind: Kind
  package let properties: [String]

  package init(_ kind: Kind, _ properties: [String]) {
    self.kind = kind
    self.properties = properties
  }

  /// No two rows may have the same values in these properties together.
  ///
  /// - Parameter properties: One or several properties.
  public static func unique(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.unique, properties)
  }

  /// Rows are found and sorted fast by these properties, the first one first.
  ///
  /// - Parameter properties: One or several properties.
  public static func indexed(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.indexed, properties)
  }

  /// Full-text search looks into these properties.
  ///
  /// Triggers keep the index in step, whoever writes. With a SQLite of before 2023, SQL of yours that
  /// writes to the table on a connection that has not used the type yet fails, unless
  /// `Database.Options.trustedSchema` is set: FTS5 did not tell SQLite then that it is harmless.
  ///
  /// - Parameter properties: One or several properties that are stored as text.
  public static func searched(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.searched, properties)
  }

  /// What rows have that were there before the property.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - value: Its value in those rows.
  public static func `default`(
    _ property: String, _ value: any Bindable & Sendable
  ) -> PropertyTrait {
    PropertyTrait(.defaultValue(value), [property])
  }

  /// The property holds the key of a record of another type, which must be there.
  ///
  /// The other type's table is made with this one's if it is missing, as ``Connection/prepare(_:)``
  /// makes it.
  ///
  /// - Parameters:
  ///   - property: The property, nil for no reference.
  ///   - type: The other type.
  ///   - rule: What happens when the other record is removed.
  public static func references<Target: Record>(
    _ property: String, _ type: Target.Type, onDelete rule: DeleteRule = .nullify
  ) -> PropertyTrait {
    PropertyTrait(
      .references(
        .init(
          table: type.tableName, column: type.strategies.keys.column(for: type.primaryKey),
          onDelete: rule), type), [property])
  }
}
