public import SQLiteCore

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

  /// By what follows ORDER BY.
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
