/// Texts that break out of SQL, paths and patterns that are built from strings.
enum Injections {
  private static let stems = [
    "'", "''", "'''", "\"", "\"\"", "`", "[", "]", ";", "--", "/*", "*/", "\\", "\\'", "%", "_",
    "*",
    "?", "?1", ":a", "@a", "$a", "#", "(", ")", ",", ".", "..", "/", "../../x", "~", "$.a", "$[0]",
    "$.\"a\"", "\n", "\r\n", "\t", " ", "\u{1}", "\u{7f}", "\u{a0}", "\u{2028}", "\u{202e}",
    "\u{feff}", "é", "e\u{301}", "'\u{301}", "\"\u{301}", "ſ", "İ", "日本語", "🚲", "👨‍👩‍👧", "\u{ff07}",
    "NULL", "rowid", "oid", "_rowid_", "1", "0x10", "1e999", "-1", "true", "CURRENT_TIMESTAMP",
    "sqlite_schema", "sqlite_master", "main.t", "temp", "magicdata_meta", "z_index",
  ]

  private static let attacks = [
    "'; DROP TABLE safe; --", "'); DROP TABLE safe; --", "\"; DROP TABLE safe; --",
    "\"); DROP TABLE safe; --", "`; DROP TABLE safe; --", "]; DROP TABLE safe; --",
    "1; DELETE FROM safe", "' OR '1'='1", "' OR 1=1 --", "\" OR \"\"=\"",
    "x' AND 1=0 UNION SELECT * FROM safe --",
    "') UNION SELECT name, sql FROM sqlite_schema --", "a'||(SELECT a FROM safe)||'b",
    "' || load_extension('x') || '", "name; ATTACH 'x' AS y", "name DESC; DROP TABLE safe",
    "(CASE WHEN 1 THEN a ELSE b END)", "abs(-9223372036854775808)", "a, (SELECT 1)",
    "a COLLATE NOCASE",
    "PRAGMA writable_schema = 1", "COMMIT; DROP TABLE safe", "ROLLBACK", "x) VALUES (1); --",
    "a\" TEXT, \"b", "a\" REFERENCES safe ON DELETE CASCADE, \"b",
    "a\" DEFAULT (randomblob(9)), \"b",
    "\" OR NEAR(a b) OR \"", "a AND NOT (", "a:b", "col : x", "^a", "a*", "{a b} : c", "-a",
    "\"a\" + b",
    "%' ESCAPE '\\", "_%_%_%", "\\%", "[a-z]*", "?*[", "file:x?mode=memory", "file:/etc/passwd",
    ":memory:",
    "https://a/b?c=d&e=f#g", "%2e%2e%2f", "..\\..\\x", "con", "nul.txt", "-rf", "$(id)", "`id`",
    "%s%n%x",
    "{{7*7}}", "\\u0027", "&#39;", "%27", "x'41'", "X'41'", "0'", "1'--", "'/*", "/**/", "--\n",
    "*/;",
  ]

  /// 200 texts: the stems and attacks, and combinations of both.
  static let all: [String] = {
    var all = stems + attacks
    var index = 0
    while all.count < 200 {
      all.append(
        index % 2 == 0
          ? attacks[index % attacks.count] + stems[index % stems.count]
          : "a" + stems[index * 7 % stems.count] + attacks[index * 3 % attacks.count])
      index += 1
    }
    return all
  }()
}
