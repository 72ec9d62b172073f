import Conformance
import MagicData
import TestSupport
import Testing

/// Where a store opens what.
@Suite(.everyEngine, .requires(.files)) struct StorePathTests {
  @Test func `a file that is there is the database of a store, whatever its name`() throws {
    let folder = try TestFolder()
    let path = folder.file("people")
    try Database.at(path).executeChange("CREATE TABLE other (a)")
    let magic = try MagicData.at(path)
    try magic.update(Counted("a"))
    try magic.database.close()
    #expect(try MagicData.at(path).count(of: Counted.self) == 1)
    #expect(try Database.at(path).read { try $0.tableExists("other") })
  }

  @Test func `a folder that cannot be made is told in the words of the system`() throws {
    let error = try #require(throws: SQLiteError.self) { try MagicData.at("/dev/null/store") }
    #expect(error.code == .cannotOpen)
    #expect(error.message == "/dev/null/store: the folder cannot be made: Not a directory")
  }
}
