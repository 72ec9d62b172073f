import Foundation

/// The data of all cases, made when it is first asked for.
final class Fixtures {
  /// The folder of all files.
  let folder: URL
  private let isPlanted: Bool
  private var made: [Int: Fixture] = [:]

  /// - Parameter isPlanted: Whether one item has wrong values.
  init(isPlanted: Bool = false) throws {
    self.isPlanted = isPlanted
    folder = FileManager.default.temporaryDirectory.appending(
      path: "magicdata-benchmarks-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func fixture(rows: Int) throws -> Fixture {
    if let fixture = made[rows] { return fixture }
    let fixture = try Fixture(rows: rows, in: folder, isPlanted: isPlanted)
    made[rows] = fixture
    return fixture
  }

  /// Removes all files.
  func remove() throws {
    try FileManager.default.removeItem(at: folder)
  }
}
