package import SQLiteCore

/// A server of a dqlite cluster, with its address and role as reported by the leader.
public struct ClusterNode: Hashable, Sendable {
  /// The tasks of a node in the cluster: whether it stores the data, and whether it can vote in
  /// elections of the leader.
  public enum Role: UInt64, Sendable {
    /// The node stores the data and can vote.
    case voter = 0
    /// The node stores the data but can't vote.
    case standBy = 1
    /// The node doesn't store the data and can't vote.
    case spare = 2
  }

  /// The number that identifies the node in the cluster.
  public let id: UInt64
  /// The network address of the node, such as `10.0.0.1:9001`.
  public let address: String
  /// The role, which determines whether the node stores the data and whether it can vote.
  public let role: Role
  /// A Boolean value that indicates whether the node was the leader when the nodes were requested.
  public internal(set) var isLeader = false
}

/// The requests that a client sends to a node in dqlite's wire protocol.
extension NodeConnection {
  /// Requests the address of the leader and returns it; nil if the node knows no leader.
  func leader(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> String? {
    try requestLeader(before: deadline)
    return try leaderReply(before: deadline)
  }

  /// Sends a request for the address of the leader.
  func requestLeader(before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    var request = Request(.leader)
    request.append(0)
    try send(request, before: deadline)
  }

  /// Waits for the node's answer with the address of the leader and returns it; nil if the node
  /// knows no leader.
  func leaderReply(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> String? {
    var reply = try reply(.server, before: deadline)
    _ = try reply.word()
    let address = try reply.text()
    return address.isEmpty ? nil : address
  }

  /// Registers this client with the node and opens a database. Returns the node's number for the
  /// database.
  func open(_ name: String, before deadline: ContinuousClock.Instant) throws(SQLiteError) -> UInt32
  {
    var client = Request(.client)
    client.append(UInt64.random(in: 1...UInt64.max))
    _ = try call(client, .welcome, before: deadline)
    var request = Request(.open)
    try request.append(name, named: "a database's name")
    request.append(0)
    try request.append("", named: "a VFS's name")
    var reply = try call(request, .database, before: deadline)
    return try reply.halves().0
  }

  /// Requests the cluster's nodes and returns them.
  package func nodes(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> [ClusterNode]
  {
    var request = Request(.cluster)
    request.append(1)
    var reply = try call(request, .servers, before: deadline)
    let count = try reply.word()
    // Each node takes at least three words. The client may query each of them, so limit their
    // number.
    guard count <= UInt64(min(reply.count / 24, 1_000)) else {
      throw ReplyReader.invalidMessage("too many nodes")
    }
    var nodes: [ClusterNode] = []
    for _ in 0..<count {
      let id = try reply.word()
      let address = try reply.text()
      guard let role = ClusterNode.Role(rawValue: try reply.word()) else {
        throw ReplyReader.invalidMessage("a node has an unknown role")
      }
      nodes.append(ClusterNode(id: id, address: address, role: role))
    }
    return nodes
  }

  /// Prepares a statement at the node and returns the node's number for it.
  func prepare(_ sql: String, in database: UInt32) throws(SQLiteError) -> UInt32 {
    var request = Request(.prepare)
    request.append(UInt64(database))
    try request.append(sql, named: "SQL")
    var reply = try call(request, .statement)
    let (_, statement) = try reply.halves()
    return statement
  }

  /// Finalizes a prepared statement at the node.
  func finalize(_ statement: UInt32, in database: UInt32) throws(SQLiteError) {
    var request = Request(.finalize)
    request.append(database, statement)
    _ = try call(request, .empty)
  }

  /// Runs SQL that returns no rows.
  ///
  /// - Returns: The rowid of the last inserted row, and the number of rows that the last statement
  ///   changed.
  func execute(
    _ target: Target, in database: UInt32, _ values: [Value] = []
  ) throws(SQLiteError) -> (rowID: Int64, changes: Int64) {
    var reply = try call(
      try request(.execute, .executeSQL, target, in: database, values), .result)
    let rowID = Int64(bitPattern: try reply.word())
    return (rowID, Int64(bitPattern: try reply.word()))
  }

  /// Runs SQL that returns rows, and returns the first message of the answer. Receive the other
  /// messages with `reply(.rows)`.
  func query(
    _ target: Target, in database: UInt32, _ values: [Value] = []
  ) throws(SQLiteError) -> ReplyReader {
    try call(try request(.query, .querySQL, target, in: database, values), .rows)
  }

  /// The SQL to run: a prepared statement or a text.
  enum Target {
    case statement(UInt32)
    case sql(String)
  }

  private func request(
    _ prepared: RequestKind, _ plain: RequestKind, _ target: Target, in database: UInt32,
    _ values: [Value]
  ) throws(SQLiteError) -> Request {
    var request: Request
    switch target {
    case .statement(let statement):
      request = Request(prepared)
      request.append(database, statement)
    case .sql(let sql):
      request = Request(plain)
      request.append(UInt64(database))
      try request.append(sql, named: "SQL")
    }
    try request.append(values)
    return request
  }
}
