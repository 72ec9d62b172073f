public import SQLiteMapping

// What is done to the tables of objects is more than to one table: their links, their assets and what
// is noted of them follow.
extension Migration.Step {
  /// Gives the table of a type of objects another name, and the tables of its links.
  ///
  /// - Parameters:
  ///   - table: The type's table until now: its name, unless it declares a `tableName`.
  ///   - newName: Its new name.
  public static func renameObjects(_ table: String, to newName: String) -> Self {
    Self(description: "rename the objects “\(table)” to “\(newName)”") {
      try ObjectTables($0).rename(table, to: newName)
    }
  }

  /// Gives a property of a type of objects another name, whatever it is stored as.
  ///
  /// - Parameters:
  ///   - property: The property's name until now.
  ///   - newName: Its new name.
  ///   - table: The type's table.
  public static func renameProperty(
    _ property: String, to newName: String, of table: String
  ) -> Self {
    Self(description: "rename “\(property)” of the objects “\(table)” to “\(newName)”") {
      try ObjectTables($0).renameProperty(property, to: newName, of: table)
    }
  }

  /// Removes a property of a type of objects with its values, its links and its assets' files.
  ///
  /// The objects that it led to stay. SQLite refuses to remove the primary value.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - table: The type's table.
  public static func dropProperty(_ property: String, of table: String) -> Self {
    Self(description: "remove “\(property)” of the objects “\(table)”") {
      try ObjectTables($0).dropProperty(property, of: table)
    }
  }

  /// Lets a property refuse to have no value, as one that is not optional: what an optional property was
  /// before, or a relation whose table was made by a library that kept no relation from being NULL.
  ///
  /// A relation that became nil when its target was removed refuses the removal from then on, unless its
  /// type says something else. Rows without a value make the migration throw ``SchemaError``, which says how
  /// many there are and names the first ten.
  ///
  /// - Parameters:
  ///   - property: The property. A collection of objects is never without a value.
  ///   - table: The type's table.
  public static func requireProperty(_ property: String, of table: String) -> Self {
    Self(description: "require “\(property)” of the objects “\(table)”") {
      try ObjectTables($0).require(property, of: table)
    }
  }

  /// Lets a property have no value, as an optional one.
  ///
  /// A relation that refused the removal of its target becomes nil from then on, unless its type says
  /// something else.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - table: The type's table.
  public static func relaxProperty(_ property: String, of table: String) -> Self {
    Self(description: "let “\(property)” of the objects “\(table)” be nil") {
      try ObjectTables($0).relax(property, of: table)
    }
  }

  /// Removes all objects of a type, with their links and their assets' files, and the type's tables.
  ///
  /// It is refused as long as properties of other types lead to the objects, whatever their delete rules:
  /// no object of a type that is not named goes or changes. The error names the properties and says how
  /// many objects lead there by each; ``dropProperty(_:of:)`` before this step removes them.
  ///
  /// - Parameter table: The type's table.
  public static func dropObjects(_ table: String) -> Self {
    Self(description: "remove the objects “\(table)”") { try ObjectTables($0).drop(table) }
  }
}

extension MagicData {
  /// Makes the migrations that this store has not had yet, each in a transaction of its own, blocking
  /// the thread.
  ///
  ///     try magic.migrate([
  ///       Migration("names are titles", .renameProperty("name", to: "title", of: "Book")),
  ///       Migration("no more ranks", .dropProperty("rank", of: "Book")),
  ///     ])
  ///
  /// Call it before objects are read or saved: a type that is used before has its new properties added
  /// empty, and a rename finds the name taken.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made.
  /// - Throws: As `Database.migrate(_:)`. The migration that failed has changed nothing then; those
  ///   before it stay.
  @discardableResult
  public func migrate(_ migrations: [Migration]) throws -> [String] {
    defer { forgetTables() }
    return try database.migrate(migrations)
  }

  /// As the blocking ``migrate(_:)``, suspending the task.
  ///
  /// - Parameter migrations: All migrations of the program, the oldest first.
  /// - Returns: The names of those that were made.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  nonisolated(nonsending) public func migrate(_ migrations: [Migration]) async throws -> [String] {
    defer { forgetTables() }
    return try await database.migrate(migrations)
  }
}
