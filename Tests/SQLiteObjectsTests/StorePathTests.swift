import Foundation
import MagicData
import Testing

/// Where a store opens what.
@Suite struct StorePathTests {
  @Test func `a file that is there is the database of a store, whatever its name`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path + "/people"
    try Database(path: path).executeChange("CREATE TABLE other (a)")
    let magic = try MagicData(path: path)
    try magic.update(Counted("a"))
    try magic.database.close()
    #expect(try MagicData(path: path).count(of: Counted.self) == 1)
    #expect(try Database(path: path).tableExists("other"))
  }

  @Test func `a folder that cannot be made is told in the words of the system`() throws {
    let error = try #require(throws: SQLiteError.self) { try MagicData(path: "/dev/null/store") }
    #expect(error.code == .cannotOpen)
    #expect(error.message == "/dev/null/store: the folder cannot be made: Not a directory")
  }
}
