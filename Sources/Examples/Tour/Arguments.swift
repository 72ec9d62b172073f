import Terminal

/// The parsed arguments of the command line.
package struct Arguments: Hashable, Sendable {
  /// The folder of the store, or nil for a temporary one.
  package private(set) var store: String?
  /// The addresses of the nodes of the cluster that stores the data. Empty if it is stored in a
  /// folder.
  package private(set) var cluster: [String]
  /// The folder of the time zone database.
  package private(set) var zoneinfo: String
  package private(set) var wantsHelp = false

  /// Parses the command line, without the program name.
  ///
  /// - Throws: `UsageError` if an argument is unknown, repeated, incomplete or contradicts another
  ///   one.
  package init(_ words: some Sequence<String>) throws(UsageError) {
    var values: [String: String] = [:]
    var words = words.makeIterator()
    while let word = words.next() {
      switch word {
      case "--help":
        wantsHelp = true
      case "--store", "--zoneinfo", "--cluster":
        guard values[word] == nil else { throw UsageError("\(word) is used twice") }
        guard let value = words.next(), !value.isEmpty, !value.hasPrefix("--") else {
          throw UsageError(
            word == "--cluster" ? "--cluster needs addresses" : "\(word) needs a folder")
        }
        values[word] = value
      case _ where word.hasPrefix("-"):
        throw UsageError("unknown option \(word.quoted)")
      default:
        throw UsageError("unexpected argument \(word.quoted)")
      }
    }
    store = values["--store"]
    cluster = (values["--cluster"] ?? "").split(separator: ",").map(String.init)
    guard store == nil || cluster.isEmpty else {
      throw UsageError("use --store or --cluster, not both")
    }
    guard values["--cluster"] == nil || !cluster.isEmpty else {
      throw UsageError("--cluster needs addresses")
    }
    zoneinfo = values["--zoneinfo"] ?? ZoneDatabase.defaultFolder
  }

  package static let help = """
    Usage: Tour [--store FOLDER | --cluster ADDRESSES] [--zoneinfo FOLDER]

    Saves the time zones of the world in a MagicData store, and shows queries and other operations.

      --store FOLDER     keep the store in FOLDER, not in a temporary folder
      --cluster A,B,C    keep the store in the database "tour" of the dqlite cluster with these nodes
      --zoneinfo FOLDER  read the time zone database in FOLDER, not in \(ZoneDatabase.defaultFolder)
      --help             print this text

    """
}

/// An invalid command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
