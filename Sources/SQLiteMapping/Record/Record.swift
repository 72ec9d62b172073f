public import SQLiteCore

/// A plain `Codable` type whose values are rows of a table.
///
///     struct City: Record {
///       static let primaryKeyType = PrimaryKeyType.autoIncrement
///       var id: Int?
///       var name: String
///       var population: Int
///       var tags: [String] = []
///     }
///
///     let toronto = try database.write { try $0.update(City(name: "Toronto", population: 2_615_060)) }
///     let big = try database.read { try $0.objects(of: City.self, where: "population > \(1_000_000)") }
///
/// Each property is a column, in order. Properties made of several values are JSON. The table is
/// made when the first value is written, from that value, and gets new columns when the type does.
/// Until the first write there is no table, and reading finds nothing.
///
/// Not `Sendable`: an instance of a class that is passed to a call that suspends is given away; what
/// the call returns belongs to the caller.
public protocol Record: Codable, SendableMetatype {
  /// The type of the keys that calls take, the first part of several; whatever can be bound unless
  /// declared. With a declaration, calls with another type of key do not compile:
  ///
  ///     typealias PrimaryKey = Int
  associatedtype PrimaryKey: Sendable = any Bindable & Sendable

  /// The key as it is bound. There is one for each ``PrimaryKey``; do not write others.
  static func bound(_ key: PrimaryKey) -> any Bindable & Sendable

  /// The table's name; the type's own name, without those around it, unless declared.
  ///
  /// As long as a file is open in this process, each of its tables belongs to the first type that
  /// meets it, a record or an object: calls with another type throw. Types that are ``isReadOnly``
  /// do not count, so that one table may have many views.
  static var tableName: String { get }

  /// The property with the primary key; `id` unless declared.
  static var primaryKey: String { get }

  /// The properties that are the primary key together; ``primaryKey`` alone unless declared.
  static var primaryKeys: [String] { get }

  /// Where keys come from; from the caller unless declared.
  static var primaryKeyType: PrimaryKeyType { get }

  /// The facts about single properties: defaults, uniqueness, indexes, full-text search.
  static var traits: [PropertyTrait] { get }

  /// How values are stored for which SQLite has no storage class.
  static var strategies: MappingStrategies { get }

  /// A value that shows the type's properties, so that its table does not depend on which value is
  /// written first; nil unless declared.
  ///
  /// Without one, the type's `init(from:)` is run on made-up content where its properties must be
  /// known before there is a value. That fails if it refuses such content, or if a property is an
  /// enumeration that is not `CaseIterable`.
  static var prototype: Self? { get }

  /// Whether the table belongs to others: it is read, and never made, grown or written. False unless
  /// declared.
  static var isReadOnly: Bool { get }
}

extension Record where PrimaryKey: Bindable {
  /// The key itself.
  public static func bound(_ key: PrimaryKey) -> any Bindable & Sendable { key }
}

extension Record where PrimaryKey == any Bindable & Sendable {
  /// The key itself.
  public static func bound(_ key: any Bindable & Sendable) -> any Bindable & Sendable { key }
}

extension Record {
  /// The type's own name.
  public static var tableName: String { "\(Self.self)" }

  /// The property `id`.
  public static var primaryKey: String { "id" }

  /// The property ``primaryKey`` alone.
  public static var primaryKeys: [String] { [primaryKey] }

  /// Keys come from the caller.
  public static var primaryKeyType: PrimaryKeyType { .unique }

  /// None.
  public static var traits: [PropertyTrait] { [] }

  /// The defaults.
  public static var strategies: MappingStrategies { MappingStrategies() }

  /// None: the first value that is written shows the properties.
  public static var prototype: Self? { nil }

  /// False.
  public static var isReadOnly: Bool { false }
}

/// Where the keys of a type's rows come from.
public enum PrimaryKeyType: Hashable, Sendable {
  /// SQLite counts up, and never uses a number again. The property is an optional integer, nil in a
  /// value that is not stored yet. One that is not optional is refused.
  case autoIncrement
  /// One more than the greatest key in the table when the row is written: the number of a row that
  /// was deleted last comes again. The property is an optional integer; one that is not optional is
  /// refused.
  case computedInt
  /// A new UUID. The property is an optional UUID or text.
  case uuid
  /// The caller gives each value its key.
  case unique
}

/// A fact about a property besides its type.
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
  /// Triggers keep the index in step with all writes. With a SQLite of before 2023, SQL of yours that
  /// writes to the table on a connection that has not used the type yet fails, unless
  /// `Database.Options.trustedSchema` is set: FTS5 did not declare itself harmless to SQLite then.
  ///
  /// - Parameter properties: One or several properties that are stored as text.
  public static func searched(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.searched, properties)
  }

  /// The value of the property in rows that were written before the property was declared.
  ///
  /// The next write adds the column. Until then, calls that read whole records return `value` as well. Types that are
  /// ``Record/isReadOnly`` never add columns, so reading them throws.
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
  /// The other type's table is made with this one's if it is missing, as `Connection.prepare(_:)`
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

/// The order of a result.
///
///     try connection.objects(of: City.self, orderedBy: .column("country").then(.column("name")))
public struct Ordering: Sendable {
  package let sql: SQL

  /// By a column, by bytes if it is text; NULL comes first, or last if descending.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - descending: Whether the greatest comes first.
  public static func column(_ name: String, descending: Bool = false) -> Ordering {
    Ordering(sql: descending ? "\(identifier: name) DESC" : "\(identifier: name)")
  }

  /// By SQL: the text behind ORDER BY.
  ///
  /// - Parameter sql: One or several terms.
  public static func sql(_ sql: SQL) -> Ordering {
    Ordering(sql: sql)
  }

  /// Adds an order for what is equal in this one.
  ///
  /// - Parameter next: The order of equals.
  public func then(_ next: Ordering) -> Ordering {
    Ordering(sql: "\(sql), \(next.sql)")
  }
}
