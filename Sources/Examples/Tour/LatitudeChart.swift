/// How many zones lie in each band of 15 degrees of latitude, the north first.
package struct LatitudeChart {
  /// The bands from the first to the last with zones: their southern edge in degrees, and how many zones.
  package private(set) var bands: [(south: Int, count: Int)] = []

  private static let height = 15

  /// Counts latitudes; what lies outside -90 to 90 degrees is no latitude and is left out.
  package init(_ latitudes: [Double]) {
    var counts: [Int: Int] = [:]
    for latitude in latitudes where (-90...90).contains(latitude) {
      // The pole belongs to the band below it.
      let south = min(Int((latitude / Double(Self.height)).rounded(.down)) * Self.height, 75)
      counts[south, default: 0] += 1
    }
    guard let first = counts.keys.min(), let last = counts.keys.max() else { return }
    bands = stride(from: last, through: first, by: -Self.height).map { ($0, counts[$0] ?? 0) }
  }

  /// A line for each band, its zones in figures.
  package var text: String {
    "zones by latitude\n" + bands.map { "\(Self.label($0.south))  \($0.count)\n" }.joined()
  }

  /// A line for each band, its zones as a bar, in eighths of a column.
  package func bars(columns: Int) -> String {
    let most = max(bands.map(\.count).max() ?? 0, 1)
    // Beside the labels and the figures.
    let room = max(8, min(columns, 100) - 24) * 8
    return "zones by latitude\n"
      + bands.map { band in
        let eighths = (band.count * room + most - 1) / most
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        let bar = String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
        return "\(Self.label(band.south))  \(bar)\(bar.isEmpty ? "" : " ")\(band.count)\n"
      }.joined()
  }

  /// `15° N to 30° N`, padded.
  private static func label(_ south: Int) -> String {
    func degrees(_ latitude: Int) -> String {
      let number = "\(abs(latitude))°"
      let side = latitude == 0 ? " " : latitude > 0 ? "N" : "S"
      return String(repeating: " ", count: 3 - number.count) + "\(number) \(side)"
    }
    return "\(degrees(south)) to \(degrees(south + height))"
  }
}
