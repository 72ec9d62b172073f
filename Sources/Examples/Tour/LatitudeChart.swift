/// A chart of the number of zones in each band of 15 degrees of latitude, from north to south.
package struct LatitudeChart {
  /// The bands from north to south, each with its southern edge in degrees and its number of zones.
  /// The first and the last band contain zones, but bands between them may be empty.
  package private(set) var bands: [(south: Int, count: Int)] = []

  private static let height = 15

  /// Counts the latitudes in each band. Ignores values outside -90...90.
  package init(_ latitudes: [Double]) {
    var counts: [Int: Int] = [:]
    for latitude in latitudes where (-90...90).contains(latitude) {
      // The North Pole is counted in the band below it.
      let south = min(Int((latitude / Double(Self.height)).rounded(.down)) * Self.height, 75)
      counts[south, default: 0] += 1
    }
    guard let first = counts.keys.min(), let last = counts.keys.max() else { return }
    bands = stride(from: last, through: first, by: -Self.height).map { ($0, counts[$0] ?? 0) }
  }

  /// The chart with a line for each band and its number of zones.
  package var text: String {
    "zones by latitude\n" + bands.map { "\(Self.label($0.south))  \($0.count)\n" }.joined()
  }

  /// Returns the chart with a bar for each band. Bars are drawn in eighths of a column.
  ///
  /// - Parameter columns: The width of the terminal in columns. The chart uses at most about 100.
  package func bars(columns: Int) -> String {
    let most = max(bands.map(\.count).max() ?? 0, 1)
    // The width that labels and numbers leave.
    let room = max(8, min(columns, 100) - 24) * 8
    return "zones by latitude\n"
      + bands.map { band in
        let eighths = (band.count * room + most - 1) / most
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        let bar = String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
        return "\(Self.label(band.south))  \(bar)\(bar.isEmpty ? "" : " ")\(band.count)\n"
      }.joined()
  }

  /// Returns the padded label of a band, such as `15° N to 30° N`.
  private static func label(_ south: Int) -> String {
    func degrees(_ latitude: Int) -> String {
      let number = "\(abs(latitude))°"
      let side = latitude == 0 ? " " : latitude > 0 ? "N" : "S"
      return String(repeating: " ", count: 3 - number.count) + "\(number) \(side)"
    }
    return "\(degrees(south)) to \(degrees(south + height))"
  }
}
