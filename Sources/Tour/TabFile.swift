package import Essentials

/// A text file of tab-separated columns, in which `#` begins a comment line.
///
/// Lines may end in LF or CRLF, and empty lines are skipped.
package struct TabFile {
  package let path: String
  private let bytes: Data

  package init(path: String, bytes: Data) {
    self.path = path
    self.bytes = bytes
  }

  /// Returns what `read` makes of the columns of each line, and names the line it refuses.
  package func entries<Entry>(
    _ read: ([String]) throws(LineProblem) -> Entry
  ) throws(ZoneDatabaseError) -> [Entry] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var entries: [Entry] = []
    for (index, line) in lines.enumerated() {
      do throws(LineProblem) {
        guard let columns = try Self.columns(of: line) else { continue }
        entries.append(try read(columns))
      } catch {
        throw .damagedLine(path: path, line: index + 1, problem: error.description)
      }
    }
    return entries
  }

  private static func columns(of line: Data) throws(LineProblem) -> [String]? {
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    guard let text = String(validating: line, as: UTF8.self) else {
      throw LineProblem("invalid UTF-8")
    }
    guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
    guard !text.unicodeScalars.contains(where: { $0.isControl && $0 != "\t" }) else {
      throw LineProblem("a control character in \(text.quoted)")
    }
    return text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
  }
}
