/// Why the time zone database could not be read.
package enum ZoneDatabaseError: Error, Hashable, CustomStringConvertible {
  case missing(path: String)
  case unreadable(path: String, reason: String)
  case damagedLine(path: String, line: Int, problem: String)
  case damagedFile(path: String, problem: String)

  package var description: String {
    switch self {
    case .missing(let path):
      """
      \(path) is missing: the Debian package tzdata brings the time zone database \
      (apt-get install tzdata), --zoneinfo FOLDER names another place
      """
    case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
    case .damagedLine(let path, let line, let problem): "\(path):\(line): \(problem)"
    case .damagedFile(let path, let problem): "\(path): \(problem)"
    }
  }
}
