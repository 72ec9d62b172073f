public import Foundation

/// Returns the URL of a helper program in the folder of the test products.
///
/// - Throws: `CocoaError.fileNoSuchFile` if the program doesn't exist.
public func helperProgram(_ name: String) throws -> URL {
  // The running program is the tests' own executable, or the tool that loaded them.
  let bundles =
    [Bundle.main.bundlePath, CommandLine.arguments[0]] + Bundle.allBundles.map(\.bundlePath)
  let folders = bundles.map { URL(filePath: $0) }.flatMap { [$0, $0.deletingLastPathComponent()] }
  let program = folders.lazy.map { $0.appending(path: name) }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  guard let program else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name]) }
  return program
}
