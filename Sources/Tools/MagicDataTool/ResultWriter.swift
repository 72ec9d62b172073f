import ExactText
import MagicData
import SQLitePortable
import Terminal

/// A writer that formats rows as a table for people, or as CSV or JSON lines for programs.
///
/// CSV follows RFC 4180, except that lines end in a line feed. NULL is an empty field, an empty
/// text is `""`, and a blob is `x'…'`. JSON values are encoded as in a dump.
struct ResultWriter {
  enum Format: String {
    case table, csv, json
  }

  private let format: Format
  private let output: Output
  private let names: [String]
  private var text = ""
  /// The rows of a table that were added before the column widths were determined from them. Nil
  /// after that.
  private var firstRows: [[TableCell]]? = []
  private var widths: [Int] = []
  private var isNumeric: [Bool] = []
  private(set) var rowCount = 0

  /// The number of rows that determine the column widths.
  private static let sampleCount = 500

  init(columns: [String], format: Format, to output: Output) {
    self.format = format
    self.output = output
    switch format {
    case .table: names = columns.map { TableCell.shown($0, in: output) }
    case .csv: names = columns
    case .json: names = Self.unique(columns)
    }
    if format == .csv { text = names.map { Self.csv(.text($0)) }.joined(separator: ",") + "\n" }
  }

  /// Adds a row. `values` must contain one value for each column.
  mutating func add(_ values: [Value]) throws(OutputError) {
    rowCount += 1
    switch format {
    case .csv: text += values.map { Self.csv($0) }.joined(separator: ",") + "\n"
    case .json: text += json(values)
    case .table:
      let cells = values.map { TableCell($0, in: output) }
      guard firstRows != nil else {
        text += line(cells)
        break
      }
      firstRows?.append(cells)
      if rowCount == Self.sampleCount { layOut() }
    }
    if text.utf8.count >= 1 << 15 { try flush() }
  }

  /// Writes the remaining rows and, in a table, the row count.
  mutating func finish() throws(OutputError) {
    if format == .table {
      layOut()
      text += rowCount == 1 ? "1 row\n" : "\(rowCount) rows\n"
    }
    try flush()
  }

  /// Writes all rows added so far, so that the user sees them immediately.
  mutating func flush() throws(OutputError) {
    layOut()
    guard !text.isEmpty else { return }
    try output.write(text)
    text = ""
  }

  // MARK: Tables

  /// Determines the column widths from the first rows, and adds the header and these rows to the
  /// text.
  private mutating func layOut() {
    guard format == .table, let rows = firstRows else { return }
    firstRows = nil
    widths = names.indices.map { column in
      max(names[column].terminalWidth, rows.map { $0[column].width }.max() ?? 0, 1)
    }
    isNumeric = names.indices.map { column in
      rows.contains { $0[column].kind == .number } && !rows.contains { $0[column].kind == .other }
    }
    if let columns = output.columns { fit(into: columns) }
    text += line(names.map { TableCell(text: $0, kind: .other) })
    text += widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ") + "\n"
    for row in rows { text += line(row) }
  }

  /// Narrows the widest columns until the table fits, but no column to fewer than ten characters.
  private mutating func fit(into columns: Int) {
    let available = columns - 2 * (widths.count - 1)
    var (low, high) = (10, max(10, widths.max() ?? 10))
    while low < high {
      let middle = (low + high + 1) / 2
      if widths.reduce(0, { $0 + min($1, middle) }) <= available {
        low = middle
      } else {
        high = middle - 1
      }
    }
    widths = widths.map { min($0, low) }
  }

  private func line(_ cells: [TableCell]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let shown = cell.width > widths[column] ? cell.text.cut(to: widths[column]) : cell.text
      let space = String(repeating: " ", count: max(0, widths[column] - shown.terminalWidth))
      line += column > 0 ? "  " : ""
      line += isNumeric[column] ? space + shown : shown + space
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line + "\n"
  }

  // MARK: CSV

  private static func csv(_ value: Value) -> String {
    switch value {
    case .null: ""
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .blob(let bytes): "x'\(Hex.lowercaseText(of: bytes))'"
    case .text(let text):
      needsQuotes(text) ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
  }

  private static func needsQuotes(_ text: String) -> Bool {
    let special = [",", "\"", "\r", "\n"].map { UInt8(ascii: $0) }
    return text.isEmpty || text.utf8.first == UInt8(ascii: " ")
      || text.utf8.last == UInt8(ascii: " ")
      || text.utf8.contains { special.contains($0) }
  }

  // MARK: JSON

  private func json(_ values: [Value]) -> String {
    var json = JSONText()
    json.bytes.append(UInt8(ascii: "{"))
    for (column, value) in values.enumerated() {
      if column > 0 { json.bytes.append(UInt8(ascii: ",")) }
      json.append(names[column])
      json.bytes.append(UInt8(ascii: ":"))
      json.append(value)
    }
    json.bytes += "}\n".utf8
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Returns the column names with a number appended to duplicates, because JSON readers keep only
  /// one of two equal keys.
  private static func unique(_ names: [String]) -> [String] {
    var used: Set<String> = []
    return names.map { name in
      var (unique, number) = (name, 1)
      while !used.insert(unique).inserted {
        number += 1
        unique = "\(name):\(number)"
      }
      return unique
    }
  }
}

/// A value formatted for a table.
private struct TableCell {
  enum Kind {
    case number, null, other
  }

  let text: String
  let width: Int
  let kind: Kind

  init(text: String, kind: Kind) {
    self.text = text
    self.kind = kind
    width = text.terminalWidth
  }

  init(_ value: Value, in output: Output) {
    switch value {
    case .null: self.init(text: "NULL", kind: .null)
    case .integer(let integer): self.init(text: "\(integer)", kind: .number)
    case .real(let real): self.init(text: "\(real)", kind: .number)
    case .text(let text): self.init(text: Self.shown(text, in: output), kind: .other)
    case .blob(let bytes):
      let limit = Self.limit(in: output)
      let isCut = limit.map { bytes.count > $0 } ?? false
      let digits = Hex.lowercaseText(of: isCut ? Array(bytes.prefix(limit ?? 0)) : bytes)
      self.init(text: "x'\(digits)\(isCut ? "…" : "'")", kind: .other)
    }
  }

  /// Returns the text with control characters escaped. On a terminal, also truncates it to the
  /// terminal's width.
  static func shown(_ text: String, in output: Output) -> String {
    guard let limit = limit(in: output) else { return text.visible }
    // The prefix bounds the work, because a character can consist of any number of scalars.
    let start = text.unicodeScalars.prefix(8 * limit)
    let isCut = start.endIndex < text.unicodeScalars.endIndex
    return (String(start).visible + (isCut ? "…" : "")).cut(to: limit)
  }

  /// Returns the maximum width of a cell in columns, or nil if the output isn't a terminal.
  private static func limit(in output: Output) -> Int? {
    output.isTerminal ? max(20, output.columns ?? 80) : nil
  }
}
