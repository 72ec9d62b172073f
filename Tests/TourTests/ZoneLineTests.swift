import Terminal
import Testing
import Tour

@Suite struct ZoneLineTests {
  @Test func `a line consists of countries, coordinates, a name and comments`() throws {
    let line = try ZoneLine(columns: ["CH,DE,LI", "+4723+00832", "Europe/Zurich", "Büsingen"])
    #expect(line.countries == ["CH", "DE", "LI"])
    #expect(line.coordinates == Coordinates(latitude: 2843.0 / 60, longitude: 512.0 / 60))
    #expect(line.name == "Europe/Zurich")
    #expect(line.comments == "Büsingen")
  }

  @Test(arguments: [["AD", "+4230+00131", "Andorra"], ["AD", "+4230+00131", "Andorra", ""]])
  func `comments can be missing or empty`(columns: [String]) throws {
    #expect(try ZoneLine(columns: columns).comments == nil)
  }

  @Test(arguments: [0, 1, 2, 5])
  func `another number of columns throws`(count: Int) {
    let columns = Array(["AD", "+4230+00131", "Europe/Andorra", "", ""].prefix(count))
    let problem = LineProblem(
      "\(count) columns instead of 3 or 4 (countries, coordinates, zone, comments)")
    #expect(throws: problem) { try ZoneLine(columns: columns) }
  }

  @Test(arguments: [
    ("", ""), ("AD,", ""), (",AD", ""), ("AD,,ES", ""), ("AD, ES", " ES"), ("ad", "ad"),
    ("AD;ES", "AD;ES"),
  ])
  func `an invalid country code throws an error that contains it`(codes: String, bad: String) {
    #expect(throws: LineProblem("bad country code \"\(bad)\", not two capital letters")) {
      try ZoneLine(columns: [codes, "+4230+00131", "Europe/Andorra"])
    }
  }

  @Test func `a country that is listed twice throws`() {
    #expect(throws: LineProblem("country AD is listed twice")) {
      try ZoneLine(columns: ["AD,ES,AD", "+4230+00131", "Europe/Andorra"])
    }
  }

  @Test func `invalid coordinates throw`() {
    #expect(throws: LineProblem.self) { try ZoneLine(columns: ["AD", "here", "Europe/Andorra"]) }
  }

  @Test(arguments: [
    ("", "empty zone name"),
    ("../x", "zone name \"../x\" leaves the folder of the database"),
    ("..", "zone name \"..\" leaves the folder of the database"),
    (".", "zone name \".\" leaves the folder of the database"),
    ("Europe/../../x", "zone name \"Europe/../../x\" leaves the folder of the database"),
    ("Europe/..", "zone name \"Europe/..\" leaves the folder of the database"),
    ("/etc/passwd", "zone name \"/etc/passwd\" is an absolute path"),
    ("Europe//Andorra", "zone name \"Europe//Andorra\" has an empty part"),
    ("Europe/", "zone name \"Europe/\" has an empty part"),
  ])
  func `a name that isn't a plain path inside the folder throws`(name: String, problem: String) {
    #expect(throws: LineProblem(problem)) {
      try ZoneLine(columns: ["AD", "+4230+00131", name])
    }
  }

  @Test(arguments: ["a b", "a\0b", "..\\x", "Zürich", "~root", "%2e%2e/x", "a\u{FF0F}b"])
  func `a name with other characters throws`(name: String) {
    let problem = "zone name \(name.quoted) has more than letters, digits and . _ + - /"
    #expect(throws: LineProblem(problem)) {
      try ZoneLine(columns: ["AD", "+4230+00131", name])
    }
  }

  @Test(arguments: ["Etc/GMT+5", "America/Port-au-Prince", "America/Argentina/Rio_G", "...x"])
  func `every character of zone names is accepted`(name: String) throws {
    #expect(try ZoneLine(columns: ["AD", "+4230+00131", name]).name == name)
  }
}
