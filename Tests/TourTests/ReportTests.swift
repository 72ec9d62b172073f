import Testing
import Tour

@Suite struct ReportTests {
  @Test func `columns are aligned, and lines have no trailing spaces`() {
    var report = Report()
    report.add("countries", count: 249, took: .microseconds(1250))
    report.add("Ålesund", detail: "one two")
    report.add("zones read", count: 1312, took: .seconds(12), detail: "three")
    report.add("end")
    #expect(
      report.text == """
        countries    249      1.3 ms
        Ålesund                       one two
        zones read  1312  12000.0 ms  three
        end

        """)
  }

  @Test func `an empty report is empty`() {
    #expect(Report().text == "")
  }

  @Test(arguments: [
    (0, "0.0"), (49_999, "0.0"), (50_000, "0.1"), (949_999, "0.9"), (950_000, "1.0"),
    (1_049_000_000, "1049.0"),
  ])
  func `a time is rounded to tenths of a millisecond`(nanoseconds: Int, text: String) {
    var report = Report()
    report.add("x", took: .nanoseconds(nanoseconds))
    #expect(report.text.hasSuffix(" \(text) ms\n"))
  }

  @Test func `control characters are escaped`() {
    var report = Report()
    report.add("a\u{1B}b", detail: "c\r\nd")
    #expect(report.text == "a\\u{1B}b      c\\u{D}\\u{A}d\n")
  }
}
