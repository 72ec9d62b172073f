public import SQLiteCore

/// How a client talks to a cluster.
public struct ClusterOptions: Sendable {
  /// What a read may miss.
  public enum Reads: Sendable {
    /// Nothing that was acknowledged before it began. As many other nodes as make a majority with the leader
    /// are asked whether they follow it, before the first row is read: one message more.
    case linearizable
    /// What others have written, while the leader was cut off and does not know it yet: until its lease ends.
    case leader
  }

  /// What a read may miss.
  public var reads = Reads.linearizable
  /// A file for the addresses of the nodes that were learned, one a line; nil for none. A client that starts
  /// when the nodes that the program names are away finds the others there.
  public var knownNodes: String?
  /// How long a transport that waits for a connection may take for one node.
  ///
  /// While the client searches for the leader, it allows 200 ms at first. Plain sockets connect while other nodes are
  /// asked.
  public var dialTimeout = Duration.seconds(2)
  /// How long one answer of a node may take, or one of its messages if it has many rows; and how long rows are taken
  /// that nobody wants any more. If the node still takes connections then, it may be at work on the statement:
  /// that is not asked of another node, which it might stop too.
  public var attemptTimeout = Duration.seconds(10)
  /// How long looking for a leader may take, and for the outcome of a write whose answer was lost.
  public var leaderTimeout = Duration.seconds(15)
  /// The largest message in bytes, sent or received.
  public var maximumMessageSize = 64 << 20
  /// Whether a database is refused that has columns whose values would end a node when they are read: those
  /// declared BOOLEAN, DATE, DATETIME or TIMESTAMP.
  public var checksColumnTypes = true
  /// Whether the nodes get the database's name as it is, which a database of another program needs.
  ///
  /// The default is false: the database `shop` is called `4:shop` at the nodes. A node of version 1.11 opens the first
  /// database whose name begins with the requested one, so `tenant 1` may open `tenant 10`. A length in front rules that
  /// out. If you send plain names, make sure that no name of the cluster is the beginning of another one.
  public var sendsPlainName = false
  /// How old the tokens of writes must be, in seconds, to be removed.
  public var tokenAge = 86_400
  /// Makes the streams to the nodes.
  public var transport: any ClusterTransport = SocketTransport()
  /// How the connections behave: readers, timeouts, statements that are kept, group commit. What is about
  /// files does not count.
  public var database = Database.Options()

  /// The defaults.
  public init() {}
}
