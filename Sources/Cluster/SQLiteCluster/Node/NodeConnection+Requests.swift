package import SQLiteCore

/// What a node tells of another.
public struct ClusterNode: Hashable, Sendable {
  /// What a node does in the cluster.
  public enum Role: UInt64, Sendable {
    /// It has the data and a vote.
    case voter = 0
    /// It has the data and no vote.
    case standBy = 1
    /// It has neither.
    case spare = 2
  }

  /// Its number.
  public let id: UInt64
  /// Its address.
  public let address: String
  /// What it does.
  public let role: Role
  /// Whether it leads.
  public internal(set) var isLeader = false
}

/// The requests of the protocol, one function for each.
extension NodeConnection {
  /// Asks for the leader's address; nil if the node knows none.
  func leader(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> String? {
    try askForLeader(before: deadline)
    return try leaderReply(before: deadline)
  }

  /// Sends the question for the leader's address.
  func askForLeader(before deadline: ContinuousClock.Instant) throws(SQLiteError) {
    var request = Request(.leader)
    request.append(0)
    try send(request, before: deadline)
  }

  /// Waits for the leader's address; nil if the node knows none.
  func leaderReply(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> String? {
    var reply = try reply(.server, before: deadline)
    _ = try reply.word()
    let address = try reply.text()
    return address.isEmpty ? nil : address
  }

  /// Says who we are, and opens a database.
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

  /// Asks for the nodes.
  package func nodes(before deadline: ContinuousClock.Instant) throws(SQLiteError) -> [ClusterNode]
  {
    var request = Request(.cluster)
    request.append(1)
    var reply = try call(request, .servers, before: deadline)
    let count = try reply.word()
    // Each node takes three words at the least; and each one that is named may be asked.
    guard count <= UInt64(min(reply.count / 24, 1_000)) else {
      throw ReplyReader.nonsense("too many nodes")
    }
    var nodes: [ClusterNode] = []
    for _ in 0..<count {
      let id = try reply.word()
      let address = try reply.text()
      guard let role = ClusterNode.Role(rawValue: try reply.word()) else {
        throw ReplyReader.nonsense("a node has an unknown role")
      }
      nodes.append(ClusterNode(id: id, address: address, role: role))
    }
    return nodes
  }

  /// Compiles a statement; returns its number.
  func prepare(_ sql: String, in database: UInt32) throws(SQLiteError) -> UInt32 {
    var request = Request(.prepare)
    request.append(UInt64(database))
    try request.append(sql, named: "SQL")
    var reply = try call(request, .statement)
    let (_, statement) = try reply.halves()
    return statement
  }

  /// Lets go of a statement.
  func finalize(_ statement: UInt32, in database: UInt32) throws(SQLiteError) {
    var request = Request(.finalize)
    request.append(database, statement)
    _ = try call(request, .empty)
  }

  /// Runs SQL that gives no rows.
  ///
  /// - Returns: The rowid of the row inserted last, and the number of rows changed last.
  func execute(
    _ target: Target, in database: UInt32, _ values: [Value] = []
  ) throws(SQLiteError) -> (rowID: Int64, changes: Int64) {
    var reply = try call(
      try request(.execute, .executeSQL, target, in: database, values), .result)
    let rowID = Int64(bitPattern: try reply.word())
    return (rowID, Int64(bitPattern: try reply.word()))
  }

  /// Runs SQL that gives rows, and returns the first message with some.
  func query(
    _ target: Target, in database: UInt32, _ values: [Value] = []
  ) throws(SQLiteError) -> ReplyReader {
    try call(try request(.query, .querySQL, target, in: database, values), .rows)
  }

  /// What is run: a statement that was compiled, or a text.
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
