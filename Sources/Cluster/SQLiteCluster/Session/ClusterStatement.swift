import SQLSyntax
import SQLiteCore

/// A statement of a session: it is sent as text when it first runs, and compiled by the node when it runs
/// again, which saves two messages for what runs once.
final class ClusterStatement: RemoteStatement {
  /// What is asked of the node.
  enum Role: Equatable {
    /// It gives rows and writes nothing.
    case query
    /// It changes the session only, and gives no rows.
    case setting
    /// It writes.
    case change(isInsert: Bool, countsRows: Bool, returnsRows: Bool)
    /// It begins or ends a transaction or a savepoint.
    case control(Control)
  }

  enum Control: Equatable {
    case begin(SQLTransactionMode)
    case commit
    case rollback
    case savepoint(String)
    case release(String)
    case rollbackTo(String)
  }

  /// The text that the node gets.
  let text: String
  let role: Role
  let placeholders: [String]
  let parameterCount: Int
  private(set) var columnNames: [String] = []

  /// Whether it gives all columns of a table, whichever they are then.
  private let hasAllColumns: Bool
  /// Whether the node compiles it once for all its runs.
  private let staysCompiled: Bool
  private let session: ClusterSession
  private var hasRun = false
  /// The node's number of it, once it is compiled.
  private var number: UInt32?
  /// The message whose rows are being read.
  private var message: ReplyReader?
  /// Those behind it that have come.
  private var messages: [ReplyReader] = []
  private var columnCount = 0
  /// Whether more messages follow.
  private var isOpen = false

  init(
    _ session: ClusterSession, text: NodeText, role: Role, hasAllColumns: Bool, staysCompiled: Bool
  ) {
    self.session = session
    self.text = text.sql
    self.role = role
    self.hasAllColumns = hasAllColumns
    self.staysCompiled = staysCompiled
    placeholders = text.placeholders
    parameterCount = text.parameterCount
  }

  var isReadOnly: Bool {
    switch role {
    case .query, .setting, .control: true
    case .change: false
    }
  }

  func run(_ values: [Value]) throws(SQLiteError) {
    do throws(SQLiteError) {
      try runOnce(values)
    } catch {
      // The node may have compiled it for tables as they were before others changed them.
      guard error.code.primary == .error, mayNameTables, try session.learnsSchema() else {
        throw error
      }
      try runOnce(values)
    }
    hasRun = true
  }

  private var mayNameTables: Bool {
    switch role {
    case .query, .change: true
    case .setting, .control: false
    }
  }

  private func runOnce(_ values: [Value]) throws(SQLiteError) {
    end()
    switch role {
    case .query:
      if session.isAutocommit { try session.confirmLeader() }
      if hasAllColumns { try session.readSchema() }
      try session.requesting(text, isWork: true) { () throws(SQLiteError) in
        try begin(try session.node.query(try target(), in: session.database, values))
      }
      session.streaming = isOpen ? self : nil
    case .setting:
      session.noteSetting(text)
      try session.requesting { () throws(SQLiteError) in
        _ = try session.node.execute(.sql(text), in: session.database, values)
      }
    case .control(let control): try session.control(control)
    case .change(let isInsert, let countsRows, let returnsRows):
      try session.changing { () throws(SQLiteError) in
        try session.requesting(text, isWork: true) { () throws(SQLiteError) in
          if returnsRows {
            session.noteWriting()
            if hasAllColumns { try session.readSchema(isPart: true) }
            try begin(try session.node.query(try target(), in: session.database, values))
            try drain()
          } else {
            let change = try session.write(text, values, target)
            if countsRows { session.count(change, isInsert: isInsert) }
          }
        }
        if returnsRows { try session.askChanges(isInsert: isInsert) }
      }
    }
  }

  /// The text the first time, and then the compiled statement.
  private func target() throws(SQLiteError) -> NodeConnection.Target {
    guard hasRun, staysCompiled else { return .sql(text) }
    if let number { return .statement(number) }
    let number = try session.node.prepare(text, in: session.database)
    self.number = number
    return .statement(number)
  }

  // MARK: Rows

  private func begin(_ message: ReplyReader) throws(SQLiteError) {
    var message = message
    columnNames = try ClusterStatement.names(&message)
    columnCount = columnNames.count
    isOpen = try ClusterStatement.isFollowed(message)
    (self.message, messages) = (message, [])
  }

  private static func names(_ message: inout ReplyReader) throws(SQLiteError) -> [String] {
    let count = try message.word()
    // Each name takes a word at the least.
    guard count <= UInt64(message.count / 8) else { throw ReplyReader.nonsense("too many columns") }
    var names: [String] = []
    for _ in 0..<count { names.append(try message.text()) }
    return names
  }

  /// Whether another message follows: the last word of each says so.
  private static func isFollowed(_ message: ReplyReader) throws(SQLiteError) -> Bool {
    guard message.count >= 8 else { throw ReplyReader.nonsense("rows have no end") }
    switch message.last {
    case 0xee:
      // A node of version 1.11 begins each message with the names, and ends it with the row that fills a page.
      // If the names fill it, it sends them without end.
      guard message.count > 8 else {
        throw ReplyReader.nonsense(
          "it has no rows: names of columns that fill a page leave no room")
      }
      return true
    case 0xff: return false
    default: throw ReplyReader.nonsense("rows have no end")
    }
  }

  private func receive() throws(SQLiteError) {
    do throws(SQLiteError) {
      var message = try session.node.reply(.rows)
      let names = try ClusterStatement.names(&message)
      guard names.count == columnCount else {
        throw ReplyReader.nonsense("rows change their columns")
      }
      messages.append(message)
      isOpen = try ClusterStatement.isFollowed(message)
      if !isOpen { session.streaming = nil }
    } catch {
      isOpen = false
      throw error
    }
  }

  /// Receives what is still to come, so that the node can be asked something else.
  ///
  /// - Throws: ``SQLiteError`` also for more rows than are kept, sixteen of the largest messages: a node
  ///   might never end.
  func drain() throws(SQLiteError) {
    var room = min(session.cluster.options.maximumMessageSize, .max / 16) * 16
    while isOpen {
      try receive()
      room -= messages.last?.count ?? 0
      guard room >= 0 else {
        isOpen = false
        throw ReplyReader.nonsense("its rows do not end")
      }
    }
  }

  func nextRow(into carrier: StatementHandle) throws(SQLiteError) -> Bool {
    while true {
      if case .row? = try message?.bindRow(columnCount, to: carrier) { return true }
      message = nil
      if messages.isEmpty {
        guard isOpen else { return false }
        try session.requesting(isPart: true, isWork: true) { () throws(SQLiteError) in
          try receive()
        }
      }
      message = messages.isEmpty ? nil : messages.removeFirst()
    }
  }

  func end() {
    // What is left must come before the next request; a session that cannot receive it is lost.
    if isOpen {
      try? session.requesting(isPart: true, isWork: true) { () throws(SQLiteError) in
        let deadline = ContinuousClock.now + session.cluster.options.attemptTimeout
        while isOpen {
          messages = []
          try receive()
          guard !isOpen || ContinuousClock.now < deadline else {
            throw NodeConnection.lost(session.node.address, "its rows do not end in time")
          }
        }
      }
    }
    isOpen = false
    (message, messages) = (nil, [])
    if session.streaming === self { session.streaming = nil }
  }

  func close() {
    end()
    guard let number else { return }
    self.number = nil
    session.forget(number)
  }

  func bytes(of list: [Value]) -> [UInt8] { ListText.bytes(of: list) }
}
