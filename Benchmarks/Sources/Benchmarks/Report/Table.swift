/// The table of measurements. Its columns have fixed widths, so each line can be printed
/// immediately.
struct Table {
  private let widths = [15, 14, 8, 12, 10, 7, 8, 9]

  var heading: String {
    let titles = line([
      "case", "engine", "rows", "ns/op", "ratio to C", "spread", "peak MiB", "allocs/op",
    ])
    return "\(titles)\n\(String(repeating: "-", count: titles.count))"
  }

  func line(for measurement: Measurement) -> String {
    line([
      measurement.case, measurement.engine.rawValue, String(measurement.operations),
      fixed(measurement.nanoseconds, digits: 1),
      fixed(measurement.ratioToC, digits: measurement.ratioToC < 0.1 ? 4 : 2),
      fixed(measurement.spread * 100, digits: 1) + "%",
      measurement.peakBytes.map { fixed(Double($0) / 1_048_576, digits: 1) } ?? "-",
      measurement.allocations.map { fixed($0, digits: 2) } ?? "-",
    ])
  }

  func footing(runs: Int) -> String {
    """

    ns/op: median of up to \(runs) runs. No run starts after 5 seconds, but there are at least 5 (3 in slow cases).
    ratio to C: median of the ratios of each run to C's run in the same round.
    spread: interquartile range of the times, relative to their median.
    peak: maximum increase of resident memory in an additional run, with the database in the cache.
    allocs: number of allocations in that run (malloc, calloc, realloc and similar functions).
    """
  }

  /// Returns a line of the table. The first two columns are left-aligned text, the others
  /// right-aligned numbers.
  private func line(_ cells: [String]) -> String {
    zip(cells, widths).enumerated().map { column, cell in
      let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return column < 2 ? cell.0 + padding : padding + cell.0
    }
    .joined(separator: " ")
  }
}
