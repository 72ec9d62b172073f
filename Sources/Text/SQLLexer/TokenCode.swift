/// The kind of a token, with one code for each keyword and for each operator or punctuation mark.
///
/// The order of the cases matters: properties such as `isIdentifier` compare ranges of raw values.
package enum TokenCode: UInt8, Sendable {
  // Not part of the grammar.
  case endOfText, blank, comment, unread, illegal
  // Operators and punctuation.
  case semicolon, leftParenthesis, rightParenthesis, comma, dot, plus, minus, star, slash
  case percent, equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, shiftLeft
  case shiftRight, ampersand, bar, tilde, concatenate, arrow, longArrow
  // Values.
  case integer, real, blob, parameter, string
  // A name, and then the keywords that are names where they aren't expected (`%fallback ID`).
  case identifier
  case abort, action, after, always, analyze, asc, attach, before, begin, by, cascade, cast,
    column, conflict, current, currentDate, currentTime, currentTimestamp, database, deferred,
    desc, detach, `do`, each, end, exclude, exclusive, explain, fail, first, following, `for`,
    generated, glob, groups, `if`, ignore, immediate, initially, instead, key, last, like,
    match, materialized, no, nulls, of, offset, others, partition, plan, pragma, preceding,
    query, raise, range, recursive, regexp, reindex, release, rename, replace, restrict,
    rollback, row, rows, savepoint, temp, temporary, ties, trigger, unbounded, vacuum, view,
    virtual, with, without
  // The words before JOIN, which are names in many places.
  case cross, full, inner, left, natural, outer, right
  // Words that are keywords only in the context of certain tokens, and names elsewhere.
  case window, over, filter, indexed, within
  // Words that are never names.
  case add, all, alter, and, `as`, autoincrement, between, `case`, check, collate, commit,
    constraint, create, `default`, deferrable, delete, distinct, drop, `else`, escape, except,
    exists, foreign, from, group, having, `in`, index, insert, intersect, into, `is`, isnull,
    join, limit, not, nothing, notnull, null, on, or, order, primary, references, returning,
    select, set, table, then, to, transaction, union, unique, update, using, values, when,
    `where`
}

extension TokenCode {
  /// Whether the token is a name, or a keyword that the parser accepts as a name (`%fallback ID` in
  /// SQLite's grammar).
  @inlinable
  package var isIdentifier: Bool {
    rawValue >= TokenCode.identifier.rawValue && rawValue <= TokenCode.without.rawValue
  }

  /// Whether the token is a word that may precede JOIN.
  @inlinable
  package var isJoinWord: Bool {
    rawValue >= TokenCode.cross.rawValue && rawValue <= TokenCode.right.rawValue
  }

  /// Whether the token is a keyword or a name, including a quoted name.
  @inlinable
  package var isWord: Bool { rawValue >= TokenCode.identifier.rawValue }
}

/// A hash table that maps keywords to their codes.
struct Keywords {
  private struct Entry {
    var low: UInt64 = 0
    var high: UInt64 = 0
    var code = TokenCode.identifier
  }

  private var entries: [Entry]

  static let table = Keywords()

  private init() {
    entries = Array(repeating: Entry(), count: 1024)
    for raw in TokenCode.abort.rawValue...TokenCode.where.rawValue {
      guard let code = TokenCode(rawValue: raw), code != .within else { continue }
      let (low, high) = Keywords.pack(Array(code.keyword.utf8))
      var slot = Keywords.slot(low, high)
      while entries[slot].low != 0 { slot = (slot + 1) & 1023 }
      entries[slot] = Entry(low: low, high: high, code: code)
    }
  }

  /// Returns the code of the word whose letters are packed into two integers, or `identifier` if it
  /// isn't a keyword.
  @inline(__always)
  func code(_ low: UInt64, _ high: UInt64) -> TokenCode {
    var slot = Keywords.slot(low, high)
    while entries[slot].low != 0 {
      if entries[slot].low == low, entries[slot].high == high { return entries[slot].code }
      slot = (slot + 1) & 1023
    }
    return .identifier
  }

  @inline(__always)
  private static func slot(_ low: UInt64, _ high: UInt64) -> Int {
    Int(truncatingIfNeeded: ((low ^ (high &* 31)) &* 0x9e37_79b9_7f4a_7c15) >> 54)
  }

  /// Packs letters into two integers, ignoring case. The 17th letter of CURRENT_TIMESTAMP, the
  /// longest keyword, is combined with an earlier one by XOR.
  private static func pack(_ letters: [UInt8]) -> (low: UInt64, high: UInt64) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    for (index, letter) in letters.enumerated() {
      if index < 8 { low |= UInt64(letter & 0xdf) << UInt64(index * 8) }
      if index >= 8, index < 16 { high |= UInt64(letter & 0xdf) << UInt64(index * 8 - 64) }
      if index == 16 { high ^= UInt64(letter & 0xdf) << 32 }
    }
    return (low, high)
  }
}

extension TokenCode {
  /// The keyword in uppercase, or an empty string if the token isn't a keyword.
  package var keyword: String {
    let index = Int(rawValue) - Int(TokenCode.abort.rawValue)
    return TokenCode.words.indices.contains(index) ? TokenCode.words[index] : ""
  }

  /// The keywords in the order of the codes.
  private static let words =
    """
    ABORT ACTION AFTER ALWAYS ANALYZE ASC ATTACH BEFORE BEGIN BY CASCADE CAST COLUMN \
    CONFLICT CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFERRED DESC \
    DETACH DO EACH END EXCLUDE EXCLUSIVE EXPLAIN FAIL FIRST FOLLOWING FOR GENERATED GLOB \
    GROUPS IF IGNORE IMMEDIATE INITIALLY INSTEAD KEY LAST LIKE MATCH MATERIALIZED NO NULLS \
    OF OFFSET OTHERS PARTITION PLAN PRAGMA PRECEDING QUERY RAISE RANGE RECURSIVE REGEXP \
    REINDEX RELEASE RENAME REPLACE RESTRICT ROLLBACK ROW ROWS SAVEPOINT TEMP TEMPORARY TIES \
    TRIGGER UNBOUNDED VACUUM VIEW VIRTUAL WITH WITHOUT CROSS FULL INNER LEFT NATURAL OUTER \
    RIGHT WINDOW OVER FILTER INDEXED WITHIN ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE \
    CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE DISTINCT DROP ELSE \
    ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL \
    JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET \
    TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN WHERE
    """.split(separator: " ").map(String.init)
}
