/// The settings of all connections. They are verified after each connection is opened.
enum Pragmas {
  private static let settings: KeyValuePairs = [
    // First, because the following pragmas can encounter the lock of a thread that opens or closes
    // the file.
    "busy_timeout": "\(busyTimeout)",
    "page_size": "4096", "journal_mode": "wal", "synchronous": "1", "cache_size": "-65536",
    "mmap_size": "0", "temp_store": "2", "foreign_keys": "1",
  ]

  /// The busy timeout in milliseconds.
  static let busyTimeout = 10_000

  /// The different settings of the cases with durable commits: each commit waits for the disk.
  private static let durable = ["synchronous": "2"]

  /// Returns the statements that apply the settings.
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

  /// Verifies the settings of a connection.
  ///
  /// - Parameters:
  ///   - isDurable: Whether each commit waits for the disk.
  ///   - read: Runs a query and returns its single value.
  /// - Throws: ``Failure`` if a setting has a different value.
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
