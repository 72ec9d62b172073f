import Synchronization

/// Which type each table of a file belongs to, as long as the file is open in this process.
///
/// All connections of all `Database` values to the file ask here: whichever access met the first type,
/// every access refuses the second one.
final class TableClaims: Sendable {
  private struct Owner: Sendable {
    let type: ObjectIdentifier
    let name: String
  }

  /// By the names of the tables in ASCII lower case.
  private let owners = Mutex<[String: Owner]>([:])

  /// Notes that tables belong to a type, all of them or none.
  ///
  /// - Returns: A table that belongs to another type, and that type's name; nil if there is none.
  func claim(_ tables: [String], for type: Any.Type) -> (table: String, owner: String)? {
    let new = Owner(type: ObjectIdentifier(type), name: qualifiedName(of: type))
    let names = tables.map(asciiLowercased)
    return owners.withLock { owners in
      for (name, table) in zip(names, tables) {
        if let owner = owners[name], owner.type != new.type { return (table, owner.name) }
      }
      for name in names { owners[name] = new }
      return nil
    }
  }

  /// Forgets everything: nobody has the file open any more.
  func clear() {
    owners.withLock { $0 = [:] }
  }
}

extension Connection {
  /// Notes that a table belongs to a type, in this process and as long as the file is open.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it belongs to another one.
  package func claim(_ table: String, for type: Any.Type) throws(SQLiteError) {
    guard let other = shared?.claims.claim([table], for: type) else { return }
    throw SQLiteError(
      .misuse,
      "the types \(other.owner) and \(qualifiedName(of: type)) both claim the table “\(table)”: "
        + "declare a tableName, or isReadOnly for a record that is only read")
  }
}

extension Database {
  /// Notes that tables belong to a type, in this process and as long as the file is open.
  ///
  /// - Returns: A table that belongs to another type, and that type's name; nil if there is none.
  package func claim(
    _ tables: [String], for type: Any.Type
  ) -> (table: String, owner: String)? {
    shared.claims.claim(tables, for: type)
  }
}

/// The name of a type with its module and the types around it.
package func qualifiedName(of type: Any.Type) -> String {
  // Between them stands where a private type is, in words that differ from run to run.
  String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
    .joined(separator: ".")
}
