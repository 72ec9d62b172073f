import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

@Suite struct ColumnFoundationTests {
  @Test func `a column is read in the form that is wanted, or not at all`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 0.25)
    let uuid = UUID()
    let decimal = try #require(Decimal(string: "-12345678901234567890.5"))
    let url = try #require(URL(string: "https://example.org/a"))
    let row = try #require(
      try Database.memory().firstRow(
        """
        SELECT \(date) AS date, \(uuid) AS uuid, \(Data([1, 2])) AS data, \(decimal) AS decimal,
          \(url) AS url, \(Duration.milliseconds(-1_500)) AS duration, 1.5 AS real, NULL AS void,
          '1500' AS digits
        """))
    #expect(row["date"]?.asDate() == date)
    #expect(row["uuid"]?.asUUID() == uuid)
    #expect(row["data"]?.asData() == Data([1, 2]))
    #expect(row["decimal"]?.asDecimal() == decimal)
    #expect(row["url"]?.asURL() == url)
    #expect(row["duration"]?.asDuration() == Duration.milliseconds(-1_500))
    #expect(row["real"]?.asDate(.secondsSince1970) == Date(timeIntervalSince1970: 1.5))
    for name in ["void", "real"] {
      #expect(row[name]?.asDate() == nil)
      #expect(row[name]?.asUUID() == nil)
      #expect(row[name]?.asData() == nil)
      #expect(row[name]?.asURL() == nil)
    }
    #expect(row["digits"]?.asDate() == nil)
    #expect(row["void"]?.asDecimal() == nil)
    #expect(row["void"]?.asDuration() == nil)
  }
}
