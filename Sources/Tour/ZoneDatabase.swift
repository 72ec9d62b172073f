package import Essentials

/// The IANA time zone database in a folder: its countries, its zones and each zone's file.
package struct ZoneDatabase: Sendable {
  /// Where Unix systems keep the database.
  package static let usualFolder = "/usr/share/zoneinfo"

  package let countries: [CountryLine]
  package let zones: [ZoneLine]
  private let folder: ZoneFolder

  /// Reads `iso3166.tab` and `zone1970.tab` in `path`, and refuses the first damaged line.
  package init(folder path: String = usualFolder) throws(ZoneDatabaseError) {
    folder = ZoneFolder(path: path)
    var codes: Set<String> = []
    countries = try folder.tabFile("iso3166.tab").entries { columns throws(LineProblem) in
      let country = try CountryLine(columns: columns)
      guard codes.insert(country.code).inserted else {
        throw LineProblem("country \(country.code) a second time")
      }
      return country
    }
    var names: Set<String> = []
    zones = try folder.tabFile("zone1970.tab").entries { columns throws(LineProblem) in
      let zone = try ZoneLine(columns: columns)
      if let unknown = zone.countries.first(where: { !codes.contains($0) }) {
        throw LineProblem("unknown country \(unknown), not in iso3166.tab")
      }
      guard names.insert(zone.name).inserted else {
        throw LineProblem("zone \(zone.name) a second time")
      }
      return zone
    }
  }

  /// How many times a country keeps a zone.
  package var pairCount: Int {
    zones.reduce(0) { $0 + $1.countries.count }
  }

  /// Reads the compiled form of `zone` (TZif, RFC 9636).
  package func file(of zone: ZoneLine) throws(ZoneDatabaseError) -> Data {
    try folder.zoneFile(zone.name)
  }
}
