/// Names for the parts of the schema that belong to a property, except its column: its link table
/// and its triggers.
///
/// The names are unique. A name consists of the name of the table, an underscore, and the name of
/// the property. In the name of the table, each underscore is replaced by `..` and each dot by
/// `.-`, so the first underscore separates the table from the property. A table name without
/// underscores and dots remains the same.
enum PropertyName {
  /// Returns the name for a property of a type with the given table.
  static func name(_ property: String, of table: String) -> String {
    guard table.utf8.contains(where: { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }) else {
      return former(property, of: table)
    }
    var start = ""
    for scalar in table.unicodeScalars {
      switch scalar {
      case "_": start += ".."
      case ".": start += ".-"
      default: start.unicodeScalars.append(scalar)
      }
    }
    return former(property, of: start)
  }

  /// Returns the name that older versions of this library used, which isn't unique.
  static func former(_ property: String, of table: String) -> String { "\(table)_\(property)" }
}
