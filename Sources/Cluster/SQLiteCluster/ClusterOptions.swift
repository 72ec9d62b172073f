public import SQLiteCore

/// The options of a client of a cluster: the consistency of reads, timeouts, limits, the transport,
/// and the options of the database.
public struct ClusterOptions: Sendable {
  /// The consistency of reads: which writes of other clients a read is guaranteed to include.
  public enum Reads: Sendable {
    /// A read includes every write that was acknowledged before it began.
    ///
    /// Before the first row is read, other voters confirm that the leader still leads, until they
    /// form a majority together with it. This usually adds one round trip.
    case linearizable
    /// A read may miss recent writes. If the leader is cut off, it answers from its last state
    /// until its lease expires.
    case leader
  }

  /// The consistency of reads, ``Reads/linearizable`` by default.
  public var reads = Reads.linearizable
  /// The path of a file in which the client stores the addresses of all nodes, one per line; nil
  /// for no file.
  ///
  /// With this file, a client can start even if all the nodes that the program specifies are down.
  public var knownNodes: String?
  /// The maximum time that the transport may take to connect to one node, 2 seconds by default.
  ///
  /// While the client searches for the leader, the limit is 200 ms at first. Plain sockets don't
  /// wait for the connection: they connect while the client queries other nodes.
  public var dialTimeout = Duration.seconds(2)
  /// The maximum time that a node may take for an answer, or for each message of an answer with
  /// many rows, 10 seconds by default.
  ///
  /// It also limits how long the client receives rows that are no longer needed. If the node still
  /// accepts connections after this time, it may still be running the statement. The statement is
  /// then not sent to another node, which it could block as well.
  public var attemptTimeout = Duration.seconds(10)
  /// The maximum time for finding a leader, and for determining the outcome of a write after its
  /// answer was lost, 15 seconds by default.
  public var leaderTimeout = Duration.seconds(15)
  /// The maximum size of a sent or received message in bytes, 64 MiB by default.
  public var maximumMessageSize = 64 << 20
  /// A Boolean value that indicates whether to reject a database with columns that can crash a node
  /// when they are read, true by default.
  ///
  /// These are columns declared as BOOLEAN, DATE, DATETIME or TIMESTAMP.
  public var checksColumnTypes = true
  /// A Boolean value that indicates whether to send the database's name to the nodes without a
  /// prefix. Set it to true to open a database that another program has created.
  ///
  /// By default, the nodes store the database `shop` under the name `4:shop`. A node of version
  /// 1.11 opens the first database whose name starts with the requested one, so `tenant 1` may open
  /// `tenant 10`. The length prefix prevents this. If you send plain names, make sure that no name
  /// in the cluster is the start of another one.
  public var sendsPlainName = false
  /// The minimum age, in seconds, at which the tokens of write transactions are deleted; one day by
  /// default.
  ///
  /// Each write transaction stores a random token in the database. If the answer to its COMMIT is
  /// lost, the client looks up the token to determine whether the transaction was committed.
  public var tokenAge = 86_400
  /// The transport that creates the streams to the nodes, ``SocketTransport`` by default.
  public var transport: any ClusterTransport = SocketTransport()
  /// The options of the database's connections, such as readers, timeouts, the statement cache and
  /// group commit. Options that concern files are ignored.
  public var database = Database.Options()

  /// Creates options with default values.
  public init() {}
}
