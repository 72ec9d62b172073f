import ExactText
public import SQLiteCore

/// The random identifier of a write transaction. The transaction stores it in the database, so
/// that any client can determine whether the transaction was committed.
struct TransactionToken {
  private let bytes: [UInt8]

  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<2).flatMap { _ in
      // Each call of the generator is a system call.
      let word = generator.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
  }

  private static let name = Connection.tokenTable

  static let table = """
    CREATE TABLE IF NOT EXISTS \(name) \
    (number INTEGER PRIMARY KEY, token BLOB NOT NULL UNIQUE, \
    is_fence INTEGER NOT NULL, made INTEGER NOT NULL)
    """
  static let presence = "SELECT count(*) FROM sqlite_schema WHERE name = '\(name)'"
  /// A query for the highest number in the table of tokens; 0 if the table is empty. The number
  /// increases with each write transaction.
  static let count = "SELECT coalesce(max(number), 0) FROM \(name)"
  static let insertion = """
    INSERT INTO \(name) (token, is_fence, made) \
    VALUES (?1, ?2, CAST(strftime('%s', 'now') AS INTEGER))
    """
  /// An ``insertion`` that contains the token as a literal, so that the COMMIT can follow in the
  /// same message.
  var literalInsertion: String {
    """
    INSERT INTO \(Self.name) (token, is_fence, made) \
    VALUES (x'\(Hex.lowercaseText(of: bytes))', 0, CAST(strftime('%s', 'now') AS INTEGER))
    """
  }
  static let query = "SELECT is_fence FROM \(name) WHERE token = ?1"
  /// The SQL that deletes tokens older than the number of seconds bound to `?1`. It keeps the
  /// newest token, so that no number is assigned twice.
  static let pruning = """
    DELETE FROM \(name) WHERE made < CAST(strftime('%s', 'now') AS INTEGER) - ?1 \
    AND number < (SELECT max(number) FROM \(name))
    """

  var value: Value { .blob(bytes) }

  func values(isFence: Bool) -> [Value] { [value, .integer(isFence ? 1 : 0)] }
}

extension Cluster {
  /// Determines whether a transaction was committed. If it wasn't, stores its token as a fence.
  /// Tokens are unique, so the transaction can't insert its own token and commit later.
  ///
  /// - Throws: `SQLiteError` with ``ResultCode/outcomeUnknown`` if this can't be determined before
  ///   the timeout or a cancellation.
  func wasCommitted(
    _ token: TransactionToken, _ reasonToEnd: @escaping () -> String?
  ) throws(SQLiteError) -> Bool {
    let deadline = ContinuousClock.now + options.leaderTimeout
    var last = "no time was left"
    while ContinuousClock.now < deadline, reasonToEnd() == nil {
      do throws(SQLiteError) {
        let (node, database) = try openAtLeader(before: deadline, reasonToEnd)
        _ = try node.execute(.sql("BEGIN IMMEDIATE"), in: database)
        if let isFence = try node.numbers(TransactionToken.query, [token.value], in: database) {
          return isFence == [0]
        }
        _ = try node.execute(
          .sql(TransactionToken.insertion), in: database, token.values(isFence: true))
        _ = try node.execute(.sql("COMMIT"), in: database)
        return false
      } catch {
        last = error.message
      }
      sleepThread(for: .milliseconds(Int.random(in: 5...30)))
    }
    throw SQLiteError(
      .outcomeUnknown,
      "it is unknown whether the transaction was committed: \(reasonToEnd() ?? last)")
  }
}

extension ResultCode {
  /// The connection to a cluster was lost during a COMMIT, and the outcome of the COMMIT couldn't
  /// be determined before the timeout or a cancellation.
  ///
  /// The transaction may be committed, or may still be committed later. SQLite has no such code.
  /// The value is an extended code of `SQLITE_IOERR` that SQLite doesn't use.
  public static let outcomeUnknown = ResultCode(
    rawValue: ResultCode.inputOutput.rawValue | 127 << 8)
}
