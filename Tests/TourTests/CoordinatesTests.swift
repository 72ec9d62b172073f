import Terminal
import Testing
import Tour

@Suite struct CoordinatesTests {
  @Test(arguments: [
    ("+4230+00131", Coordinates(latitude: 42.5, longitude: 91.0 / 60)),
    ("-690022+0393524", Coordinates(latitude: -248_422.0 / 3600, longitude: 142_524.0 / 3600)),
    ("-0030-00030", Coordinates(latitude: -0.5, longitude: -0.5)),
    ("-0000+00000", Coordinates(latitude: 0, longitude: 0)),
    ("+9000-18000", Coordinates(latitude: 90, longitude: -180)),
    ("-900000+1800000", Coordinates(latitude: -90, longitude: 180)),
    ("+5959+00059", Coordinates(latitude: 3599.0 / 60, longitude: 59.0 / 60)),
  ])
  func `both formats are converted to degrees`(text: String, expected: Coordinates) throws {
    #expect(try Coordinates(text) == expected)
  }

  @Test func `zero degrees south is zero, not minus zero`() throws {
    #expect(try Coordinates("-0000-00000").latitude.sign == .plus)
  }

  @Test(arguments: [
    "", "+", "+4230", "4230+000131", "+4230+0013", "+4230+001311", "+4230 00131", "+423a+00131",
    "+42+30+00131", "++230+00131", "+4230+0013١", "+4230/00131", "+42:0+00131", "+4230+00131 ",
    "+0000-0000000", "+000000-00000", "0042300+0013100",
  ])
  func `text in another format throws`(text: String) throws {
    let problem = try #require(throws: LineProblem.self) { try Coordinates(text) }
    #expect(
      problem.description
        == "bad coordinates \(text.quoted): not ±DDMM±DDDMM or ±DDMMSS±DDDMMSS")
  }

  @Test(arguments: [
    ("+4260+00131", "60 minutes of latitude"),
    ("+4230-00199", "99 minutes of longitude"),
    ("+423060+0013100", "60 seconds of latitude"),
    ("+423000-0013161", "61 seconds of longitude"),
  ])
  func `minutes and seconds above 59 throw`(text: String, problem: String) {
    #expect(throws: LineProblem("bad coordinates \"\(text)\": \(problem), at most 59")) {
      try Coordinates(text)
    }
  }

  @Test(arguments: [
    ("+9001+00000", "latitude beyond 90"), ("-9100+00000", "latitude beyond 90"),
    ("+900001+0000000", "latitude beyond 90"), ("+0000+18001", "longitude beyond 180"),
    ("+0000-99900", "longitude beyond 180"), ("+000000-1800001", "longitude beyond 180"),
  ])
  func `degrees beyond the poles or 180 degrees of longitude throw`(text: String, problem: String) {
    #expect(throws: LineProblem("bad coordinates \"\(text)\": \(problem) degrees")) {
      try Coordinates(text)
    }
  }
}
