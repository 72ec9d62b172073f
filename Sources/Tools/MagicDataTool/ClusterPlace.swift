import MagicData
import SQLiteCluster
import Terminal

/// A database of a cluster, which the user names instead of a path.
enum ClusterPlace {
  /// The options by which it is named.
  static let options: Set<String> = ["--cluster", "--name"]
  static let explanation = """

    --cluster A,B   instead of PATH: the addresses (host:port) of one node or more of a cluster
    --name NAME     the database's name there
    """

  /// Opens the database of the cluster that the command line names; nil if it names none.
  ///
  /// - Parameters:
  ///   - session: The run.
  ///   - operands: How many operands the command takes beside a path, which is left out.
  /// - Throws: `ToolError` for a wrong command line.
  static func open(_ session: Session, operands: Int) throws -> Database? {
    let values = session.words.values
    let isNamed = values["--cluster"] != nil
    let expected = isNamed ? operands : operands + 1
    guard session.words.operands.count == expected else {
      throw ToolError.usage(
        session.words.operands.count < expected
          ? "too few arguments" : "unexpected argument \(session.words.operands[expected].quoted)")
    }
    guard let cluster = values["--cluster"] else {
      guard values["--name"] == nil else { throw ToolError.usage("--name needs --cluster") }
      return nil
    }
    guard let name = values["--name"] else { throw ToolError.usage("--cluster needs --name") }
    let database = try Database(
      cluster: cluster.split(separator: ",").map(String.init), name: name)
    session.interruption.include(database)
    return database
  }
}
