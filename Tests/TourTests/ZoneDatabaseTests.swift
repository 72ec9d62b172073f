import Foundation
import Testing
import TestSupport
import Tour

@Suite struct ZoneDatabaseTests {
  let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    try folder.write("# codes\nAD\tAndorra\nDE\tGermany\nCH\tSwitzerland\n", to: "iso3166.tab")
    try folder.write(
      """
      # zones
      AD\t+4230+00131\tEurope/Andorra
      CH,DE\t+4723+00832\tEurope/Zurich\tBüsingen
      DE\t+5230+01322\tEurope/Berlin\tmost of Germany

      """, to: "zone1970.tab")
    try folder.write("TZif2 Zurich", to: "Europe/Zurich")
  }

  @Test func `countries and zones keep the order of their lines`() throws {
    let database = try ZoneDatabase(folder: folder.path)
    #expect(database.countries.map(\.code) == ["AD", "DE", "CH"])
    #expect(database.countries.map(\.name) == ["Andorra", "Germany", "Switzerland"])
    #expect(database.zones.map(\.name) == ["Europe/Andorra", "Europe/Zurich", "Europe/Berlin"])
    #expect(database.zones.map(\.countries) == [["AD"], ["CH", "DE"], ["DE"]])
    #expect(database.pairCount == 4)
  }

  @Test func `the file of a zone is read`() throws {
    let database = try ZoneDatabase(folder: folder.path)
    #expect(try database.file(of: database.zones[1]) == Data("TZif2 Zurich".utf8))
  }

  @Test func `a missing zone file throws an error with its path`() throws {
    let database = try ZoneDatabase(folder: folder.path)
    let error = #expect(throws: ZoneDatabaseError.self) {
      try database.file(of: database.zones[0])
    }
    #expect(error?.description.contains("/Europe/Andorra is missing") == true)
  }

  @Test(arguments: [
    ("iso3166.tab", "AD\tAndorra\nAD\tAgain\n", 2, "country AD is listed twice"),
    ("iso3166.tab", "AD Andorra\n", 1, "1 columns instead of 2 (code, name)"),
    ("iso3166.tab", "\n# é\r\nA\tAndorra", 3, "bad country code \"A\", not two capital letters"),
    (
      "zone1970.tab", "AD\t+4230+00131\tA\nDE\t+4230+00131\tA\n", 2, "zone A is listed twice"
    ),
    (
      "zone1970.tab", "\r\n\r\nAD,FR\t+4230+00131\tA\r\n", 3,
      "unknown country FR: not in iso3166.tab"
    ),
    (
      "zone1970.tab", "# here\nAD\t+4260+00131\tA\n", 2,
      "bad coordinates \"+4260+00131\": 60 minutes of latitude, at most 59"
    ),
    (
      "zone1970.tab", "AD\t+4230+00131\t../outside\n", 1,
      "zone name \"../outside\" leaves the folder of the database"
    ),
  ])
  func `a damaged line throws an error with its path and line number`(
    name: String, text: String, line: Int, problem: String
  ) throws {
    try folder.write(text, to: name)
    let error = #expect(throws: ZoneDatabaseError.self) { try ZoneDatabase(folder: folder.path) }
    #expect(error == .damagedLine(path: "\(folder.path)/\(name)", line: line, problem: problem))
    #expect(error?.description == "\(folder.path)/\(name):\(line): \(problem)")
  }

  @Test(arguments: ["iso3166.tab", "zone1970.tab"])
  func `a missing table throws an error with its path`(name: String) throws {
    try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    #expect(throws: ZoneDatabaseError.missing(path: folder.path + "/" + name)) {
      try ZoneDatabase(folder: folder.path)
    }
  }

  @Test func `a missing folder throws an error with the table's path`() {
    #expect(throws: ZoneDatabaseError.missing(path: folder.path + "/no/iso3166.tab")) {
      try ZoneDatabase(folder: folder.path + "/no")
    }
  }

  @Test(
    .enabled("the package tzdata is installed") {
      FileManager.default.fileExists(atPath: ZoneDatabase.defaultFolder + "/zone1970.tab")
    })
  func `the system's database is read completely`() throws {
    let database = try ZoneDatabase()
    let lines = try ["iso3166.tab", "zone1970.tab"].map { name in
      try String(contentsOfFile: ZoneDatabase.defaultFolder + "/" + name, encoding: .utf8)
        .components(separatedBy: "\n").filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
    #expect(database.countries.map { "\($0.code)\t\($0.name)" } == lines[0])
    #expect(
      database.zones.map { "\($0.countries.joined(separator: ","))\t\($0.name)" }
        == lines[1].map { $0.components(separatedBy: "\t") }.map { "\($0[0])\t\($0[2])" })
    for zone in database.zones {
      let bytes = try Data(
        contentsOf: URL(fileURLWithPath: ZoneDatabase.defaultFolder + "/" + zone.name))
      #expect(try database.file(of: zone) == bytes)
    }
  }
}
