public import SQLiteCore

/// How a client talks to a cluster.
public struct ClusterOptions: Sendable {
  /// How long connecting to one node may take.
  public var dialTimeout = Duration.seconds(2)
  /// How long one answer of a node may take.
  public var attemptTimeout = Duration.seconds(10)
  /// How long looking for a leader may take, and for the outcome of a write whose answer was lost.
  public var leaderTimeout = Duration.seconds(15)
  /// The largest message in bytes, sent or received.
  public var maximumMessageSize = 64 << 20
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
