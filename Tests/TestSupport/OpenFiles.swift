import Foundation

/// The paths of the files and folders in `folder`, or of itself, that this process has open.
///
/// Only Linux lists the descriptors of a process as links. Elsewhere the result is empty.
package func openFiles(in folder: String) -> [String] {
  let descriptors = "/proc/self/fd"
  let folder = URL(filePath: folder).resolvingSymlinksInPath().path
  let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
  return names.compactMap { name in
    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
  }.filter { $0 == folder || $0.hasPrefix(folder + "/") }.sorted()
}
