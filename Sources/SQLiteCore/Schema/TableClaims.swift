import Synchronization

/// The owners of a file's tables, for as long as the file is open in this process.
///
/// All connections of all `Database` instances on the file share these claims. The first type that
/// claims a table owns it. Claims by other types are rejected, on any connection.
final class TableClaims: Sendable {
  private struct Owner: Hashable, Sendable {
    let type: ObjectIdentifier
    let name: String
  }

  /// The owner of each table. The keys are the tables' names in ASCII lower case.
  private let owners = Mutex<[String: Owner]>([:])

  /// Registers a type as the owner of all given tables, or of none of them if there is a conflict.
  ///
  /// - Parameters:
  ///   - tables: The tables, each with the purpose for which the type uses it.
  ///   - type: The type that owns the tables.
  /// - Returns: The first table that has another owner or purpose, with its registered purpose and
  ///   the requested one; nil if there is no conflict.
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

  /// Removes all claims. Called when all databases that have claimed tables of the file are closed.
  func clear() {
    owners.withLock { $0 = [:] }
  }
}

/// Returns the name of a type, qualified by its module and enclosing types.
package func qualifiedName(of type: Any.Type) -> String {
  // Remove the context of private types, because its text differs from run to run.
  String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
    .joined(separator: ".")
}
