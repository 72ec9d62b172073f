import SQLSyntax
import SQLiteCore

/// A statement of a session. Its first run sends the text, which saves two messages for a statement
/// that runs only once. The second run prepares it at the node, unless it can't stay prepared.
final class ClusterStatement: RemoteStatement {
  /// The kind of request that runs the statement.
  enum Role: Equatable {
    /// The statement returns rows and doesn't write.
    case query
    /// The statement changes only the session and returns no rows.
    case setting
    /// The statement writes. The associated values indicate whether it is an INSERT, whether the
    /// rows that it changes are counted, and whether it returns rows.
    case change(isInsert: Bool, countsRows: Bool, returnsRows: Bool)
    /// The statement begins or ends a transaction or a savepoint.
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

  /// The SQL text that is sent to the node. A query replaces each call of `magicdata_list`.
  let text: String
  let role: Role
  let placeholders: [String]
  let parameterCount: Int
  private(set) var columnNames: [String] = []

  /// Whether the statement returns all columns of a table (`*`).
  private let hasAllColumns: Bool
  /// Whether the node may prepare the statement once and reuse it for all later runs.
  private let canStayPrepared: Bool
  private let session: ClusterSession
  private var hasRun = false
  /// The node's number for the prepared statement; nil if the node hasn't prepared it.
  private var number: UInt32?
  /// The message that contains the current row; nil if there is no such message.
  private var message: ReplyReader?
  /// The received messages with rows that follow those of the current message.
  private var messages: [ReplyReader] = []
  private var columnCount = 0
  /// Whether more messages of the current answer are still to be received.
  private var isOpen = false

  init(
    _ session: ClusterSession, text: NodeText, role: Role, hasAllColumns: Bool,
    canStayPrepared: Bool
  ) {
    self.session = session
    self.text = text.sql
    self.role = role
    self.hasAllColumns = hasAllColumns
    self.canStayPrepared = canStayPrepared
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
      // The node may have prepared the statement for an old schema.
      guard error.code.primary == .error, mayNameTables, try session.reloadSchema() else {
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
      session.recordSetting(text)
      try session.requesting { () throws(SQLiteError) in
        _ = try session.node.execute(.sql(text), in: session.database, values)
      }
    case .control(let control): try session.control(control)
    case .change(let isInsert, let countsRows, let returnsRows):
      try session.changing { () throws(SQLiteError) in
        try session.requesting(text, isWork: true) { () throws(SQLiteError) in
          if returnsRows {
            session.recordWrite()
            if hasAllColumns { try session.readSchema(isPart: true) }
            try begin(try session.node.query(try target(), in: session.database, values))
            try drain()
          } else {
            let change = try session.write(text, values, target)
            if countsRows { session.count(change, isInsert: isInsert) }
          }
        }
        if returnsRows { try session.requestChangeCount(isInsert: isInsert) }
      }
    }
  }

  /// Returns what to run at the node: the text for the first run and for a statement that can't
  /// stay prepared; otherwise the prepared statement, which the second run prepares.
  private func target() throws(SQLiteError) -> NodeConnection.Target {
    guard hasRun, canStayPrepared else { return .sql(text) }
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
    isOpen = try ClusterStatement.hasNextMessage(message)
    (self.message, messages) = (message, [])
  }

  private static func names(_ message: inout ReplyReader) throws(SQLiteError) -> [String] {
    let count = try message.word()
    // Each name takes at least one word.
    guard count <= UInt64(message.count / 8) else {
      throw ReplyReader.invalidMessage("too many columns")
    }
    var names: [String] = []
    for _ in 0..<count { names.append(try message.text()) }
    return names
  }

  /// Returns whether another message with rows follows, according to the last byte of this message.
  private static func hasNextMessage(_ message: ReplyReader) throws(SQLiteError) -> Bool {
    guard message.count >= 8 else { throw ReplyReader.invalidMessage("the rows have no end mark") }
    switch message.last {
    case 0xee:
      // A node of version 1.11 begins each message with the names, and ends it after the row that
      // fills a page. If the names alone fill the page, it sends such messages endlessly.
      guard message.count > 8 else {
        throw ReplyReader.invalidMessage(
          "it has no rows: the column names fill a page and leave no room")
      }
      return true
    case 0xff: return false
    default: throw ReplyReader.invalidMessage("the rows have no end mark")
    }
  }

  private func receive() throws(SQLiteError) {
    do throws(SQLiteError) {
      var message = try session.node.reply(.rows)
      let names = try ClusterStatement.names(&message)
      guard names.count == columnCount else {
        throw ReplyReader.invalidMessage("the number of columns changes between messages")
      }
      messages.append(message)
      isOpen = try ClusterStatement.hasNextMessage(message)
      if !isOpen { session.streaming = nil }
    } catch {
      isOpen = false
      throw error
    }
  }

  /// Receives the remaining messages, so that another request can be sent.
  ///
  /// - Throws: `SQLiteError` if a message can't be received, or if the remaining rows are larger
  ///   than sixteen messages of the maximum size, because the node might never stop sending rows.
  func drain() throws(SQLiteError) {
    var room = min(session.cluster.options.maximumMessageSize, .max / 16) * 16
    while isOpen {
      try receive()
      room -= messages.last?.count ?? 0
      guard room >= 0 else {
        isOpen = false
        throw ReplyReader.invalidMessage("the rows do not end")
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
    // The remaining messages must be received before the next request. If that fails, the session
    // is lost.
    if isOpen {
      try? session.requesting(isPart: true, isWork: true) { () throws(SQLiteError) in
        let deadline = ContinuousClock.now + session.cluster.options.attemptTimeout
        while isOpen {
          messages = []
          try receive()
          guard !isOpen || ContinuousClock.now < deadline else {
            throw NodeConnection.lost(
              session.node.address, "the rows did not end within the timeout")
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
