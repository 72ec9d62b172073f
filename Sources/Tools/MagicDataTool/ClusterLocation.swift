import MagicData
import SQLiteCluster
import Terminal

/// A database in a cluster, which the user selects with `--cluster` and `--name` instead of a path.
enum ClusterLocation {
  /// The options that select the database.
  static let options: Set<String> = ["--cluster", "--name"]
  static let explanation = """

    --cluster A,B   use a database of a cluster instead of PATH: addresses (host:port) of its nodes
    --name NAME     the name of this database
    """

  /// Opens the cluster database that the command line selects, or returns nil if it contains a path
  /// instead.
  ///
  /// - Parameters:
  ///   - session: The current run. If the user interrupts it, the statements of the database are
  ///     interrupted too.
  ///   - operands: The number of operands that the command requires in addition to the path. With
  ///     `--cluster`, the path is omitted.
  /// - Throws: `ToolError` if the number of operands is wrong or only one of the two options is
  ///   present; `SQLiteError` if the database can't be opened.
  static func open(_ session: Session, operands: Int) throws -> Database? {
    let values = session.arguments.values
    let isNamed = values["--cluster"] != nil
    let expected = isNamed ? operands : operands + 1
    guard session.arguments.operands.count == expected else {
      throw ToolError.usage(
        session.arguments.operands.count < expected
          ? "too few arguments"
          : "unexpected argument \(session.arguments.operands[expected].quoted)")
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
