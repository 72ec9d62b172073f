public import SQLiteCore

/// A plain `Codable` type whose values are stored as rows of a table.
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
/// Each property is stored in a column, in the order of the properties. A property with several
/// parts is stored as JSON. The first write creates the table from the written value, and later
/// writes add columns for new properties. Before the first write, there is no table, and reads
/// return no rows.
///
/// Records don't have to be `Sendable`. When you pass an instance of a class to a suspending call,
/// you give it away and cannot use it afterwards. You own the instances that such a call returns.
public protocol Record: Codable, SendableMetatype {
  /// The type of the primary key, or of its first part if it has several. It is the type of the key
  /// parameter in calls such as `object(of:primary:)`.
  ///
  /// By default, calls accept any value that can be bound. If you declare a type, calls with a key
  /// of another type don't compile:
  ///
  ///     typealias PrimaryKey = Int
  associatedtype PrimaryKey: Sendable = any Bindable & Sendable

  /// Returns a primary key as a value that can be bound to a statement.
  ///
  /// The library implements this function for every valid ``PrimaryKey``. Don't implement it
  /// yourself.
  ///
  /// - Parameter key: A primary key, or its first part.
  /// - Returns: The value to bind.
  static func bound(_ key: PrimaryKey) -> any Bindable & Sendable

  /// The name of the table. The default is the name of the type, without its enclosing types.
  ///
  /// While a database file is open in this process, each of its tables belongs to the first record
  /// or object type that uses it. Calls with another type throw. Types that are ``isReadOnly`` are
  /// exempt, so several of them can read the same table.
  static var tableName: String { get }

  /// The name of the primary key property. The default is `id`.
  static var primaryKey: String { get }

  /// The names of the properties that form the primary key together. The default is ``primaryKey``
  /// alone.
  static var primaryKeys: [String] { get }

  /// The source of new primary keys. By default, you assign the keys yourself
  /// (``PrimaryKeyType/unique``).
  static var primaryKeyType: PrimaryKeyType { get }

  /// Traits of properties, such as defaults, uniqueness, indexes and full-text search. There are
  /// none by default.
  static var traits: [PropertyTrait] { get }

  /// The forms in which values without a storage class in SQLite are stored, and the conversion of
  /// property names to column names. The default strategies are exact and human-readable.
  static var strategies: MappingStrategies { get }

  /// An example value that shows the type's properties, so that its table doesn't depend on the
  /// first value that is written. The default is nil.
  ///
  /// Without a prototype, the library runs the type's `init(from:)` with made-up content if it
  /// needs the properties before a value exists. This fails if `init(from:)` rejects such content,
  /// or if a property is an enumeration that is not `CaseIterable`.
  static var prototype: Self? { get }

  /// A Boolean value that indicates whether calls with the type may only read its table. Calls that
  /// would create, alter or write the table throw, and so do reads while the table doesn't exist.
  /// The default is `false`.
  static var isReadOnly: Bool { get }
}

extension Record where PrimaryKey: Bindable {
  /// Returns `key`, which can be bound as it is.
  ///
  /// - Parameter key: A primary key, or its first part.
  /// - Returns: The same key.
  public static func bound(_ key: PrimaryKey) -> any Bindable & Sendable { key }
}

extension Record where PrimaryKey == any Bindable & Sendable {
  /// Returns `key`, which can be bound as it is.
  ///
  /// - Parameter key: A primary key, or its first part.
  /// - Returns: The same key.
  public static func bound(_ key: any Bindable & Sendable) -> any Bindable & Sendable { key }
}

extension Record {
  /// The default table name, which is the name of the type.
  public static var tableName: String { "\(Self.self)" }

  /// The default primary key property, `id`.
  public static var primaryKey: String { "id" }

  /// The default primary key, which consists of the property ``primaryKey``.
  public static var primaryKeys: [String] { [primaryKey] }

  /// The default source of primary keys: you assign them yourself.
  public static var primaryKeyType: PrimaryKeyType { .unique }

  /// The default traits, an empty array.
  public static var traits: [PropertyTrait] { [] }

  /// The default strategies, which are exact and human-readable.
  public static var strategies: MappingStrategies { MappingStrategies() }

  /// The default prototype, nil: the first value that is written shows the type's properties.
  public static var prototype: Self? { nil }

  /// The default, `false`: the type can write to its table.
  public static var isReadOnly: Bool { false }
}

/// The source of the primary keys of a type's rows.
public enum PrimaryKeyType: Hashable, Sendable {
  /// SQLite assigns auto-incremented keys and never reuses one. The property must be an optional
  /// integer that is nil in a new value. If it is not optional, calls with the type throw.
  case autoIncrement
  /// Each new row gets a key that is one greater than the greatest key in the table. If the row
  /// with the greatest key was deleted, its key is reused. The property must be an optional integer
  /// that is nil in a new value. If it is not optional, calls with the type throw.
  case computedInt
  /// Each new row gets a random UUID. The property must have the type `UUID?` or `String?`, and
  /// must be nil in a new value.
  case uuid
  /// You assign the key of each value yourself. Writing a value without a key throws.
  case unique
}

/// A trait of one or several properties, such as an index or a uniqueness constraint.
///
///     static let traits: [PropertyTrait] = [
///       .unique("email"), .indexed("country", "name"), .default("score", 0), .searched("notes"),
///     ]
///
/// Use the names of the properties in Swift. If a trait contains a name that no property of the
/// type has, writing a value throws.
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

  /// Declares that no two rows may have the same combination of values in these properties. Rows
  /// with nil in one of the properties are exempt.
  ///
  /// - Parameter properties: The names of one or several properties.
  /// - Returns: A trait for ``Record/traits``.
  public static func unique(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.unique, properties)
  }

  /// Declares an index that makes filtering and sorting by these properties fast.
  ///
  /// - Parameter properties: The names of one or several properties, the most significant one
  ///   first.
  /// - Returns: A trait for ``Record/traits``.
  public static func indexed(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.indexed, properties)
  }

  /// Adds properties to the full-text index of the type.
  ///
  /// Triggers update the index with each write. SQLite versions before 2023 don't declare FTS5
  /// innocuous. With these versions, your own SQL cannot write to the table on a connection that
  /// hasn't used the type yet, unless `Database.Options.trustedSchema` is set.
  ///
  /// - Parameter properties: The names of one or several properties that are stored as text.
  /// - Returns: A trait for ``Record/traits``.
  public static func searched(_ properties: String...) -> PropertyTrait {
    PropertyTrait(.searched, properties)
  }

  /// Sets the value of a property in rows that were written before the property was declared.
  ///
  /// The next write adds the column. Until then, calls that fetch whole records return `value` for
  /// the property. Types that are ``Record/isReadOnly`` never add columns, so fetching them throws
  /// if the column is missing.
  ///
  /// - Parameters:
  ///   - property: The name of the property.
  ///   - value: The value of the property in those rows.
  /// - Returns: A trait for ``Record/traits``.
  public static func `default`(
    _ property: String, _ value: any Bindable & Sendable
  ) -> PropertyTrait {
    PropertyTrait(.defaultValue(value), [property])
  }

  /// Declares that a property contains the primary key of a record of another type, and that this
  /// record must exist.
  ///
  /// If the table of the other type is missing, it is created together with the table of this type,
  /// as by `Connection.prepare(_:)`.
  ///
  /// - Parameters:
  ///   - property: The name of the property. A nil value references no record.
  ///   - type: The type of the referenced record.
  ///   - rule: What happens to a record with the property when the record that it references is
  ///     removed.
  /// - Returns: A trait for ``Record/traits``.
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

/// The sort order of the results of a query.
///
///     try connection.objects(of: City.self, orderedBy: .column("country").then(.column("name")))
public struct Ordering: Sendable {
  package let sql: SQL

  /// Returns a sort order by a column. Text is compared byte by byte, unless the column declares a
  /// collation. NULL comes first, or last if the order is descending.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - descending: Whether the greatest value comes first.
  public static func column(_ name: String, descending: Bool = false) -> Ordering {
    Ordering(sql: descending ? "\(identifier: name) DESC" : "\(identifier: name)")
  }

  /// Returns a sort order that is described in SQL, which is inserted after ORDER BY.
  ///
  /// - Parameter sql: One or several terms, separated by commas.
  public static func sql(_ sql: SQL) -> Ordering {
    Ordering(sql: sql)
  }

  /// Returns an order that sorts by this order first, and sorts rows that are equal in it by
  /// another one.
  ///
  /// - Parameter next: The order of the rows that are equal in this order.
  public func then(_ next: Ordering) -> Ordering {
    Ordering(sql: "\(sql), \(next.sql)")
  }
}
