import Foundation
import TestSupport

extension TestFolder {
  /// Returns the sorted paths of all files in a folder and its subfolders, relative to that folder.
  func files(in folder: String = "") -> [String] {
    let enumerator = FileManager.default.enumerator(atPath: "\(path)/\(folder)")
    var files: [String] = []
    while let name = enumerator?.nextObject() as? String {
      if enumerator?.fileAttributes?[.type] as? FileAttributeType != .typeDirectory {
        files.append(name)
      }
    }
    return files.sorted()
  }

  /// Returns the permission bits of a file or folder.
  func permissions(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
    return attributes[.posixPermissions] as? Int ?? -1
  }

  func text(of name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
  }

  /// Creates a hard link.
  func hardLink(_ name: String, to target: String) throws {
    try FileManager.default.linkItem(
      atPath: "\(path)/\(target)", toPath: "\(path)/\(name)")
  }

  func makeFIFO(_ name: String) throws {
    guard unsafe mkfifo("\(path)/\(name)", 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Creates a file with a name that isn't valid UTF-8.
  func makeFileWithInvalidName(in folder: String) throws {
    let name: [CChar] = "\(path)/\(folder)/".utf8.map { CChar(bitPattern: $0) } + [-1, 0]
    let file = unsafe creat(name, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    close(file)
  }
}
