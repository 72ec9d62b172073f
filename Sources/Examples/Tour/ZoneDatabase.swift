package import Essentials
import Terminal

/// The IANA time zone database in a folder: its countries, its zones and the file of each zone.
package struct ZoneDatabase: Sendable {
  /// The folder of the database on most Unix systems.
  package static let defaultFolder = "/usr/share/zoneinfo"

  package let countries: [CountryLine]
  package let zones: [ZoneLine]
  private let folder: ZoneFolder

  /// Reads `iso3166.tab` and `zone1970.tab` in the folder at `path`.
  ///
  /// - Throws: `ZoneDatabaseError` if a table can't be read or contains an invalid line.
  package init(folder path: String = defaultFolder) throws(ZoneDatabaseError) {
    folder = ZoneFolder(path: path)
    var codes: Set<String> = []
    countries = try folder.tabFile("iso3166.tab").entries { columns throws(LineProblem) in
      let country = try CountryLine(columns: columns)
      guard codes.insert(country.code).inserted else {
        throw LineProblem("country \(country.code) is listed twice")
      }
      return country
    }
    var names: Set<String> = []
    zones = try folder.tabFile("zone1970.tab").entries { columns throws(LineProblem) in
      let zone = try ZoneLine(columns: columns)
      if let unknown = zone.countries.first(where: { !codes.contains($0) }) {
        throw LineProblem("unknown country \(unknown): not in iso3166.tab")
      }
      guard names.insert(zone.name).inserted else {
        throw LineProblem("zone \(zone.name) is listed twice")
      }
      return zone
    }
  }

  /// The number of pairs of a zone and a country that uses it.
  package var pairCount: Int {
    zones.reduce(0) { $0 + $1.countries.count }
  }

  /// Reads the compiled file of a zone (TZif, RFC 9636).
  package func file(of zone: ZoneLine) throws(ZoneDatabaseError) -> Data {
    try folder.zoneFile(zone.name)
  }
}

/// An error while reading the time zone database.
package enum ZoneDatabaseError: Error, Hashable, CustomStringConvertible {
  case missing(path: String)
  case unreadable(path: String, reason: String)
  case damagedLine(path: String, line: Int, problem: String)
  case damagedFile(path: String, problem: String)

  package var description: String {
    switch self {
    case .missing(let path):
      """
      \(path) is missing; install the time zone database, such as the Debian package tzdata \
      (apt-get install tzdata), or pass its folder as --zoneinfo FOLDER
      """
    case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
    case .damagedLine(let path, let line, let problem): "\(path):\(line): \(problem)"
    case .damagedFile(let path, let problem): "\(path): \(problem)"
    }
  }
}

/// The folder of a time zone database. Doesn't read zone files outside the folder.
package struct ZoneFolder: Sendable {
  private let url: URL

  package init(path: String) {
    url = URL(filePath: path, directoryHint: .isDirectory)
  }

  /// Reads the table file with the given name from the folder.
  package func tabFile(_ name: String) throws(ZoneDatabaseError) -> TabFile {
    let file = url.appending(path: name, directoryHint: .notDirectory)
    return TabFile(path: Self.path(of: file), bytes: try Self.bytes(of: file))
  }

  /// Reads a zone file. Follows symbolic links if their target is inside the folder.
  package func zoneFile(_ name: String) throws(ZoneDatabaseError) -> Data {
    let folder = url.resolvingSymlinksInPath()
    let file = folder.appending(path: name, directoryHint: .notDirectory)
    let target = file.resolvingSymlinksInPath()
    let path = Self.path(of: file)
    guard Self.isBelow(folder, target) else {
      throw .damagedFile(path: path, problem: "it is outside the folder of the database")
    }
    let bytes = try Self.bytes(of: target)
    guard bytes.starts(with: "TZif".utf8) else {
      throw .damagedFile(path: path, problem: "not a TZif file: its first bytes are not \"TZif\"")
    }
    return bytes
  }

  private static func isBelow(_ folder: URL, _ file: URL) -> Bool {
    let path = Self.path(of: folder)
    let prefix = path.hasSuffix("/") ? path : path + "/"
    return Self.path(of: file).utf8.starts(with: prefix.utf8)
  }

  private static func path(of url: URL) -> String {
    url.path(percentEncoded: false)
  }

  private static func bytes(of url: URL) throws(ZoneDatabaseError) -> Data {
    let path = Self.path(of: url)
    do {
      // Reading a named pipe without a writer would block forever.
      let type = try FileManager.default.attributesOfItem(
        atPath: Self.path(of: url.resolvingSymlinksInPath()))[.type]
      guard type as? FileAttributeType == .typeRegular else {
        throw ZoneDatabaseError.unreadable(path: path, reason: "not a regular file")
      }
      return try Data(contentsOf: url)
    } catch let error as ZoneDatabaseError {
      throw error
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      throw .missing(path: path)
    } catch {
      throw .unreadable(path: path, reason: systemMessage(for: error))
    }
  }
}

/// A text file with tab-separated columns.
///
/// Lines end in LF or CRLF. Empty lines and lines that start with `#` are skipped.
package struct TabFile {
  package let path: String
  private let bytes: Data

  package init(path: String, bytes: Data) {
    self.path = path
    self.bytes = bytes
  }

  /// Returns the entries that `read` creates, each from the columns of one line.
  ///
  /// - Throws: `ZoneDatabaseError.damagedLine` with the line number if a line is invalid or `read`
  ///   throws.
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
