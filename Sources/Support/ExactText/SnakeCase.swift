/// Conversions between camel case and snake case, like the key strategies of Foundation's coders.
package enum SnakeCase {
  /// Returns the key in snake case: `some_url_value` for `someURLValue`.
  package static func snakeCase(of key: String) -> String {
    let scalars = Array(key.unicodeScalars)
    var result = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      let isUpper = scalar.properties.isUppercase
      if isUpper, index > 0, scalars[index - 1] != "_" {
        let followsUpper = scalars[index - 1].properties.isUppercase
        let precedesLower =
          index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
        if !followsUpper || precedesLower { result.append("_") }
      }
      result.append(
        contentsOf: isUpper ? Array(scalar.properties.lowercaseMapping.unicodeScalars) : [scalar])
    }
    return String(result)
  }

  /// Returns the key in camel case: `someUrlValue` for `some_url_value`. Keeps leading and trailing
  /// underscores.
  package static func camelCase(of key: String) -> String {
    let leading = key.prefix { $0 == "_" }
    guard leading.count < key.count else { return key }
    let trailing = key.reversed().prefix { $0 == "_" }
    let words = key.dropFirst(leading.count).dropLast(trailing.count).split(separator: "_")
    guard words.count > 1, let first = words.first else { return key }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
    return leading + first.lowercased() + rest.joined() + String(trailing)
  }
}
