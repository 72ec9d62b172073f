/// The settings that every engine's connections get, and are asked for after they opened.
enum Pragmas {
  private static let settings: KeyValuePairs = [
    "page_size": "4096", "journal_mode": "wal", "synchronous": "1", "cache_size": "-65536",
    "mmap_size": "0", "temp_store": "2", "foreign_keys": "1",
  ]

  /// The statements that apply the settings.
  static var statements: [String] {
    settings.map { "PRAGMA \($0.key) = \($0.value)" }
  }

  static var script: String { statements.joined(separator: "; ") }

  static var description: String {
    settings.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  /// Asks a connection for its settings, by `read`, which returns the single value of a query.
  ///
  /// - Throws: ``Failure`` if one has another value than with the other engines.
  static func check(_ read: (_ query: String) throws -> String?) throws {
    for (name, expected) in settings {
      let actual = try read("PRAGMA \(name)")
      guard actual == expected else {
        throw Failure("\(name) is \(actual ?? "unknown") and should be \(expected)")
      }
    }
  }
}
