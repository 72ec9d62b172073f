public import Foundation

/// The file of a program that is built beside the tests.
///
/// - Throws: `CocoaError` if there is no such program.
public func helperProgram(_ name: String) throws -> URL {
  // The program that runs now is the tests' own, or the tool that has loaded them.
  let bundles =
    [Bundle.main.bundlePath, CommandLine.arguments[0]] + Bundle.allBundles.map(\.bundlePath)
  let folders = bundles.map { URL(filePath: $0) }.flatMap { [$0, $0.deletingLastPathComponent()] }
  let program = folders.lazy.map { $0.appending(path: name) }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  guard let program else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name]) }
  return program
}
