package import Essentials

/// The folder of a time zone database, out of which no zone's name leads.
package struct ZoneFolder: Sendable {
  private let url: URL

  package init(path: String) {
    url = URL(filePath: path, directoryHint: .isDirectory)
  }

  /// Reads the table called `name`.
  package func tabFile(_ name: String) throws(ZoneDatabaseError) -> TabFile {
    let file = url.appending(path: name, directoryHint: .notDirectory)
    return TabFile(path: Self.path(of: file), bytes: try Self.bytes(of: file))
  }

  /// Reads the zone file called `name`, also through symbolic links that stay in the folder.
  package func zoneFile(_ name: String) throws(ZoneDatabaseError) -> Data {
    let folder = url.resolvingSymlinksInPath()
    let file = folder.appending(path: name, directoryHint: .notDirectory)
    let target = file.resolvingSymlinksInPath()
    let path = Self.path(of: file)
    guard Self.isBelow(folder, target) else {
      throw .damagedFile(path: path, problem: "leads out of the folder of the database")
    }
    let bytes = try Self.bytes(of: target)
    guard bytes.starts(with: "TZif".utf8) else {
      throw .damagedFile(path: path, problem: "not a TZif file, its first bytes are not \"TZif\"")
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
      // Reading a named pipe would wait for its writer for ever.
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
