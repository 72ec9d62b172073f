import Synchronization

/// Which type each table of a file belongs to, as long as the file is open in this process.
///
/// All connections of all `Database` values to the file ask here: whichever access met the first type,
/// every access refuses the second one.
final class TableClaims: Sendable {
  private struct Owner: Hashable, Sendable {
    let type: ObjectIdentifier
    let name: String
  }

  /// By the names of the tables in ASCII lower case.
  private let owners = Mutex<[String: Owner]>([:])

  /// Notes that tables belong to a type, all of them or none.
  ///
  /// - Parameters:
  ///   - tables: The tables, and what the type needs each for.
  ///   - type: The type.
  /// - Returns: A table that is needed for something else, what for, and what for here; nil if there is none.
  func claim(
    _ tables: [(table: String, purpose: String)], for type: Any.Type
  ) -> (table: String, owner: String, purpose: String)? {
    owners.withLock { owners in
      var claimed = owners
      for (table, purpose) in tables {
        let new = Owner(type: ObjectIdentifier(type), name: purpose)
        if let owner = claimed.updateValue(new, forKey: asciiLowercased(table)), owner != new {
          return (table, owner.name, purpose)
        }
      }
      owners = claimed
      return nil
    }
  }

  /// Forgets everything: nobody has the file open any more.
  func clear() {
    owners.withLock { $0 = [:] }
  }
}

/// The name of a type with its module and the types around it.
package func qualifiedName(of type: Any.Type) -> String {
  // Between them stands where a private type is, in words that differ from run to run.
  String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
    .joined(separator: ".")
}
