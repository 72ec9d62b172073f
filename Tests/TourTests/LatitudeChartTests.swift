import Testing
import Tour

@Suite struct LatitudeChartTests {
  @Test func `latitudes are counted in bands from north to south, including empty ones`() {
    let chart = LatitudeChart([90, 89.9, 45, 44.999, 0, -0.1, -90, 100, .nan, .infinity])
    #expect(chart.bands.map(\.south) == [75, 60, 45, 30, 15, 0, -15, -30, -45, -60, -75, -90])
    #expect(chart.bands.map(\.count) == [2, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1])
  }

  @Test func `the text has one line per band`() {
    #expect(
      LatitudeChart([1, 2, -20]).text == """
        zones by latitude
         0°   to 15° N  2
        15° S to  0°    0
        30° S to 15° S  1

        """)
  }

  @Test(arguments: [0, 20, 80, 1000])
  func `bars are proportional to the counts and fit the terminal`(columns: Int) {
    let chart = LatitudeChart([1, 2, 3, 4, -20, -21, -10])
    let lines = chart.bars(columns: columns).split(separator: "\n").dropFirst()
    let lengths = lines.map { line in line.count { $0 == "█" } }
    #expect(lengths[0] == 2 * lengths[2])
    #expect(lengths[0] == 4 * lengths[1])
    #expect(lines.allSatisfy { $0.count <= max(columns, 32) && $0.count <= 100 })
  }

  @Test func `without latitudes, there are no bands`() {
    #expect(LatitudeChart([]).bands.isEmpty)
    #expect(LatitudeChart([]).bars(columns: 80) == "zones by latitude\n")
  }
}
