import Foundation

/// The fixtures of all cases, created on first use.
final class Fixtures {
  /// The folder that contains all files.
  let folder: URL
  private let isPlanted: Bool
  private var made: [Int: Fixture] = [:]

  /// Creates a temporary folder for the fixtures.
  ///
  /// - Parameter isPlanted: Whether the first item of each fixture has wrong values.
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

  /// Removes the folder with all files.
  func remove() throws {
    try FileManager.default.removeItem(at: folder)
  }
}
