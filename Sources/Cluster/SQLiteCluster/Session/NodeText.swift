import SQLSyntax
import SQLiteCore

/// The text of a statement for a node. Each call of `magicdata_list`, the function for list
/// parameters, is replaced by a query, because a node doesn't have this function.
struct NodeText {
  private(set) var sql = ""
  /// The parameters as written in the text, such as `?2` or `:name`, in the order of their
  /// occurrences.
  private(set) var placeholders: [String] = []
  /// The highest parameter number in the text; 0 if it has no parameters. `?` and named parameters
  /// are numbered as in SQLite.
  private(set) var parameterCount = 0
  private var named: Set<String> = []

  init(_ text: String) {
    var tokens = SQLTokens(text)
    // The query that replaces the current call of `magicdata_list`, from its name to the closing
    // parenthesis.
    var table: String?
    var isCalled = false
    while let token = tokens.next() {
      let part = tokens.text(of: token)
      if token.kind == .parameter { note(part) }
      guard table != nil else {
        if part == "magicdata_list" { table = ListText.empty } else { sql += part }
        continue
      }
      if !isCalled, part != "(" {
        guard token.kind != .blank else { continue }
        // Without parentheses, there is no list.
        sql += "\(ListText.empty) \(part)"
        table = nil
        continue
      }
      isCalled = part != ")"
      if token.kind == .parameter {
        table = ListText.query(part == "?" ? "?\(parameterCount)" : part)
      } else if part == ")" {
        sql += table ?? ""
        table = nil
      }
    }
    sql += table ?? ""
  }

  private mutating func note(_ placeholder: String) {
    placeholders.append(placeholder)
    if placeholder == "?" {
      parameterCount += 1
    } else if placeholder.hasPrefix("?"), let number = Int(placeholder.dropFirst()) {
      parameterCount = max(parameterCount, number)
    } else if named.insert(placeholder).inserted {
      parameterCount += 1
    }
  }
}

/// The encoding of a list of values as a blob, and the query that decodes it. All values are
/// preserved exactly, including reals. The encoding isn't JSON, which can't represent blobs and
/// whose numbers SQLite 3.40 parses inexactly.
///
/// Each value consists of a letter for its type, its size as ten digits, and its bytes. The bytes
/// of a number are its digits. A real is encoded as an integer and the number of times to double or
/// halve it. Each of these steps is exact.
enum ListText {
  /// The SQL that replaces the table-valued function if it is used without an argument: a table
  /// without rows.
  static let empty = "(SELECT NULL AS value WHERE 0)"

  /// Returns the query that replaces a call of `magicdata_list`. It decodes an encoded list into
  /// rows with one column, `value`.
  ///
  /// - Parameter list: The parameter that the list is bound to, such as `?1`. The query contains it
  ///   several times.
  static func query(_ list: String) -> String {
    let bytes = "substr(\(list), at + 11, size)"
    func size(_ start: String) -> String {
      "CAST(CAST(substr(\(list), \(start), 10) AS TEXT) AS INTEGER)"
    }
    return """
      (WITH RECURSIVE walk(at, size) AS (\
      SELECT 1, \(size("2")) WHERE length(\(list)) > 0 UNION ALL \
      SELECT at + 11 + size, \(size("at + 12 + size")) FROM walk \
      WHERE at + 11 + size <= length(\(list))) \
      SELECT CASE substr(\(list), at, 1) \
      WHEN x'69' THEN CAST(CAST(\(bytes) AS TEXT) AS INTEGER) \
      WHEN x'74' THEN CAST(\(bytes) AS TEXT) WHEN x'62' THEN \(bytes) \
      WHEN x'72' THEN (WITH RECURSIVE scale(number, times) AS (SELECT \
      CAST(CAST(CAST(substr(\(list), at + 16, size - 5) AS TEXT) AS INTEGER) AS REAL), \
      CAST(CAST(substr(\(list), at + 11, 5) AS TEXT) AS INTEGER) UNION ALL \
      SELECT CASE WHEN times > 0 THEN number * 2.0 ELSE number / 2.0 END, \
      times - sign(times) FROM scale WHERE times <> 0) \
      SELECT number FROM scale WHERE times = 0) \
      WHEN x'70' THEN 9e999 WHEN x'6d' THEN -9e999 END AS value FROM walk)
      """
  }

  static func bytes(of list: [Value]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in list {
      switch value {
      case .null: append("n", [], to: &bytes)
      case .integer(let integer): append("i", String(integer).utf8, to: &bytes)
      case .text(let text): append("t", text.utf8, to: &bytes)
      case .blob(let blob): append("b", blob, to: &bytes)
      case .real(let real) where real.isNaN: append("n", [], to: &bytes)
      case .real(let real) where real.isInfinite: append(real > 0 ? "p" : "m", [], to: &bytes)
      case .real(let real):
        let (whole, times) = parts(of: real)
        append("r", (fiveDigits(times) + String(whole)).utf8, to: &bytes)
      }
    }
    return bytes
  }

  private static func append(
    _ kind: Unicode.Scalar, _ content: some Collection<UInt8>, to bytes: inout [UInt8]
  ) {
    let size = String(content.count)
    bytes.append(UInt8(ascii: kind))
    bytes += String(repeating: "0", count: max(0, 10 - size.utf8.count)).utf8
    bytes += size.utf8
    bytes += content
  }

  /// Returns a number from -9,999 to 9,999 as a sign and four digits.
  private static func fiveDigits(_ number: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "+") + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Returns the two parts that represent a finite real. The real is the integer `whole`, doubled
  /// `times` times or, if `times` is negative, halved `-times` times.
  private static func parts(of real: Double) -> (whole: Int64, times: Int) {
    let isNormal = real.exponentBitPattern > 0
    var bits = Int64(real.significandBitPattern) | (isNormal ? 1 << 52 : 0)
    guard bits != 0 else { return (0, 0) }
    var times = max(Int(real.exponentBitPattern), 1) - 1_075
    // Minimize the number of steps. The significand of most numbers has few digits.
    let zeros = bits.trailingZeroBitCount
    bits >>= Int64(zeros)
    times += zeros
    if times > 0, times < bits.leadingZeroBitCount - 10 {
      bits <<= Int64(times)
      times = 0
    }
    return (real.sign == .minus ? -bits : bits, times)
  }
}
