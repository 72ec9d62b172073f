/// The settings that every engine's connections get, and are asked for after they opened.
enum Pragmas {
  private static let settings: KeyValuePairs = [
    // First, since what follows may meet the lock of another thread that opens or closes the file.
    "busy_timeout": "\(busyTimeout)",
    "page_size": "4096", "journal_mode": "wal", "synchronous": "1", "cache_size": "-65536",
    "mmap_size": "0", "temp_store": "2", "foreign_keys": "1",
  ]

  /// How many milliseconds a lock is waited for.
  static let busyTimeout = 10_000

  /// Each commit waits for the disk, in the cases of durable commits.
  private static let durable = ["synchronous": "2"]

  /// The statements that apply the settings.
  static func statements(isDurable: Bool) -> [String] {
    settings.map { "PRAGMA \($0.key) = \(value(of: $0.key, $0.value, isDurable))" }
  }

  static func script(isDurable: Bool) -> String {
    statements(isDurable: isDurable).joined(separator: "; ")
  }

  private static func value(of name: String, _ usual: String, _ isDurable: Bool) -> String {
    isDurable ? durable[name] ?? usual : usual
  }

  static var description: String {
    settings.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  /// Asks a connection for its settings, by `read`, which returns the single value of a query.
  ///
  /// - Throws: ``Failure`` if one has another value than with the other engines.
  static func check(
    isDurable: Bool, _ read: (_ query: String) throws -> String?
  ) throws {
    for (name, usual) in settings {
      let expected = value(of: name, usual, isDurable)
      let actual = try read("PRAGMA \(name)")
      guard actual == expected else {
        throw Failure("\(name) is \(actual ?? "unknown") and should be \(expected)")
      }
    }
  }
}
