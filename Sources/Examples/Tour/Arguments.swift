import Terminal

/// The arguments of the command line.
package struct Arguments: Hashable, Sendable {
  /// The folder to keep the store in; without it, a temporary one.
  package private(set) var store: String?
  /// The addresses of a cluster's nodes, which keep the store instead of a folder; empty without one.
  package private(set) var cluster: [String]
  /// The folder of the time zone database.
  package private(set) var zoneinfo: String
  package private(set) var wantsHelp = false

  /// Reads `words`, the command line without the program's name.
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
    zoneinfo = values["--zoneinfo"] ?? ZoneDatabase.usualFolder
  }

  package static let help = """
    Usage: Tour [--store FOLDER | --cluster ADDRESSES] [--zoneinfo FOLDER]

    Saves the time zones of the world in a MagicData store and shows what can be asked of it.

      --store FOLDER     keep the store in FOLDER, not in a temporary folder
      --cluster A,B,C    keep the store in the database "tour" of the dqlite cluster with these nodes
      --zoneinfo FOLDER  read the time zone database in FOLDER, not in \(ZoneDatabase.usualFolder)
      --help             print this text

    """
}

/// A command line that the tour does not understand.
package struct UsageError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
