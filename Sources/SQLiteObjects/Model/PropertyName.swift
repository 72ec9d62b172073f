/// The names of what belongs to a property in the schema, besides its column: its links, its triggers.
///
/// No two properties have one name: the table comes first, with `..` for each underscore and `.-` for each
/// dot in it, so that the first underscore parts it from the property. A name of a table without either
/// is as it is.
enum PropertyName {
  /// The name of a property of the type with a table.
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

  /// The name that older versions of this library gave it, which two properties could share.
  static func former(_ property: String, of table: String) -> String { "\(table)_\(property)" }
}
