/// Handwritten texts, one per line: every statement and clause of SQLite's manual, and every quirk
/// of its grammar. SQLite rejects a text with `‸` at the byte of that mark.
enum Texts {
  struct Text {
    /// The text without the mark.
    let sql: String
    /// The offset at which SQLite rejects the text, or nil if it accepts it.
    let refusal: Int?

    init(_ line: some StringProtocol) {
      let parts = line.split(separator: "‸", maxSplits: 1, omittingEmptySubsequences: false)
      sql = parts.joined()
      refusal = parts.count == 2 ? parts[0].utf8.count : nil
    }
  }

  static let marked = [expressions, queries, changes, tables, rest].flatMap { lines in
    lines.split(separator: "\n").map { Text($0) }
  }

  static let semanticError = semanticErrorLines.split(separator: "\n").map { line in
    let bar = line.firstRange(of: " | ")
    let message = bar.map { line[..<$0.lowerBound] } ?? ""
    return (message: String(message), text: Text(bar.map { line[$0.upperBound...] } ?? line))
  }

  /// Texts with bytes that a line can't represent, marked in the same way.
  static let bytes =
    [
      "", " \t\r\n\u{C}", "‸\u{B}", "‸\u{B}SELECT 1", " \u{B}SELECT 1", "SELECT 1‸\u{B}",
      "SELECT \u{B}1", "SELECT‸\u{B}1", "SELECT 1 \u{B}\u{B} + 2", "SELECT 1+‸\u{B}2",
      "\u{FEFF}SELECT 1", "‸SELECT\u{FEFF} 1", "SELECT \u{FEFF}1", "SELECT ‸1\u{FEFF}",
      "SELECT 1 \u{FEFF}\u{FEFF} a", "SELECT a\u{FEFF}b", "‸SELECT\u{A0}1", "SELECT \u{A0}1",
      "SELECT ‸1\u{A0}", "SELECT é, 😀, \"é\", 'é', [é]", "SELECT ‸1é", "SELECT é1",
      "SELECT 1 -- to the end\n+ 2", "SELECT 1 -- to the end\r+ 2", "SELECT 1 --\n\n;",
      "SELECT 1;\0 anything ' \"", "SELECT 1 \0 FROM", "\0", "SELECT‸\0 1", "SELECT ‸'\0'",
      "SELECT /* ‸\0 */ 1", "SELECT 'a\nb', \"a\nb\", [a\nb]", "SELECT /* a\nb */ 1", "/**/", "‸/*",
      "/* *", "/*/", "/***/SELECT 1", "/*/ SELECT 1 */ SELECT 2", "--", "‸-", "SELECT 1 -‸", ";;",
      "SELECT 1;SELECT 2", "SELECT 1; garbage", " ; ", "SELECT ‸\u{1}1", "SELECT ‸\u{7F}",
      "SELECT ~1", "SELECT ‸x'", "SELECT ‸x'0", "SELECT ‸X'00", "SELECT x'00'a", "SELECT ‸$",
      "SELECT ‸$a(", "SELECT ‸$a(b", "SELECT $a(b)", "SELECT ‸$a(b c)", "SELECT $a‸:b",
      "SELECT $a::", "SELECT $::a", "SELECT @é", "SELECT :1a", "SELECT 1.e5", "SELECT 1.5‸.5",
      "SELECT 1.‸.5", "SELECT ‸.", "SELECT 1 ‸.5", "SELECT 0x1Fg", "SELECT 0x1F g", "SELECT ‸1_000",
      "SELECT ‸1e5e5", "SELECT ‸1e-", "SELECT ‸1e5a", "SELECT ?1‸?2", "SELECT ?‸?", "SELECT ?‸:a",
      "SELECT 'a''b'", "SELECT 'a' 'b'", "SELECT \"a\"\"b\"", "SELECT ‸'''",
      "SELECT a!=b,a<>b,a==b,a<=b,a>=b,a<<b,a>>b,a||b,a->b,a->>b", "SELECT a<b,a>b,a=b,a|b,a&b",
      "SELECT a< ‸=b", "SELECT a- ‸>b", "SELECT a->-b", "SELECT a|| ‸|b",
      "SELECT sum(a) OVER /* c */ (ORDER BY b)", "SELECT sum(a) OVER/**/w",
      "SELECT sum(a)/**/OVER w", "SELECT sum(a) OVER\n(ORDER BY b)",
      "SELECT sum(a) FILTER /* c */ (WHERE 1)", "SELECT 1 WINDOW /* c */ w AS ()",
      "SELECT 1 WINDOW w /* c */ AS ()",
    ].map { Text($0) }
}
