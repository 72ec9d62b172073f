import Foundation

/// Returns the sorted paths that this process has open: `folder` itself and everything in it.
///
/// Only Linux lists the descriptors of a process as links. The result is empty on other systems.
package func openFiles(in folder: String) -> [String] {
  let descriptors = "/proc/self/fd"
  let folder = URL(filePath: folder).resolvingSymlinksInPath().path
  let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
  return names.compactMap { name in
    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
  }.filter { $0 == folder || $0.hasPrefix(folder + "/") }.sorted()
}
