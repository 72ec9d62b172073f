import ExactText
public import SQLiteCore

/// The random name of a transaction, which it stores itself, so that anybody can learn whether it was
/// committed.
struct Token {
  private let bytes: [UInt8]

  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<2).flatMap { _ in
      // Each call of the generator is one of the system's.
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
  /// A number that each transaction that writes makes greater.
  static let count = "SELECT coalesce(max(number), 0) FROM \(name)"
  static let insertion = """
    INSERT INTO \(name) (token, is_fence, made) \
    VALUES (?1, ?2, CAST(strftime('%s', 'now') AS INTEGER))
    """
  /// As ``insertion``, with the value in the text: so the COMMIT can follow in the same message.
  var literalInsertion: String {
    """
    INSERT INTO \(Self.name) (token, is_fence, made) \
    VALUES (x'\(Hex.lowercaseText(of: bytes))', 0, CAST(strftime('%s', 'now') AS INTEGER))
    """
  }
  static let query = "SELECT is_fence FROM \(name) WHERE token = ?1"
  /// The newest stays, so that no number comes twice.
  static let pruning = """
    DELETE FROM \(name) WHERE made < CAST(strftime('%s', 'now') AS INTEGER) - ?1 \
    AND number < (SELECT max(number) FROM \(name))
    """

  var value: Value { .blob(bytes) }

  func values(isFence: Bool) -> [Value] { [value, .integer(isFence ? 1 : 0)] }
}

extension Cluster {
  /// Finds out whether a transaction was committed, and makes sure that it never will be if it was not: then
  /// the token is stored in its place.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/outcomeUnknown`` if that cannot be learned in time.
  func wasCommitted(
    _ token: Token, _ reasonToEnd: @escaping () -> String?
  ) throws(SQLiteError) -> Bool {
    let deadline = ContinuousClock.now + options.leaderTimeout
    var last = "no time was left"
    while ContinuousClock.now < deadline, reasonToEnd() == nil {
      do throws(SQLiteError) {
        let (node, database) = try openAtLeader(before: deadline, reasonToEnd)
        _ = try node.execute(.sql("BEGIN IMMEDIATE"), in: database)
        if let isFence = try node.numbers(Token.query, [token.value], in: database) {
          return isFence == [0]
        }
        _ = try node.execute(
          .sql(Token.insertion), in: database, token.values(isFence: true))
        _ = try node.execute(.sql("COMMIT"), in: database)
        return false
      } catch {
        last = error.message
      }
      sleepThread(for: .milliseconds(Int.random(in: 5...30)))
    }
    throw SQLiteError(
      .outcomeUnknown,
      "whether the transaction was committed could not be learned: \(reasonToEnd() ?? last)")
  }
}

extension ResultCode {
  /// The connection to a cluster was lost while a transaction was committed, and whether it was could not be
  /// learned before the deadline. It may be, also later. SQLite has no such code: it is one of its kind for
  /// input and output that SQLite does not use.
  public static let outcomeUnknown = ResultCode(
    rawValue: ResultCode.inputOutput.rawValue | 127 << 8)
}
