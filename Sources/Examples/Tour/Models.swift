package import Essentials
package import MagicData

/// A country of ISO 3166.
package struct Country: MagicObject {
  /// Two letters.
  @PrimaryMagicValue package var code: String
  @MagicValue package var name: String
  /// The zones that name this country.
  @ReverseMagicValue(\Zone.$countries) package var zones: AsyncReverseMagicSet<Zone>

  package init() {}

  init(_ line: CountryLine) {
    code = line.code
    name = line.name
  }
}

/// A time zone of the IANA database.
package struct Zone: MagicObject {
  @PrimaryMagicValue package var name: String
  /// In degrees, positive in the north.
  @MagicValue package var latitude: Double
  /// In degrees, positive in the east.
  @MagicValue package var longitude: Double
  @OptionalMagicValue package var comments: String?
  /// The country with the most people of the zone first.
  @MagicValue package var countries: [Country]
  /// The compiled TZif file.
  @MagicValue package var file: AsyncMagical<MagicAsset<Data>>

  package init() {}

  init(_ line: ZoneLine, countries: [Country], file: Data) {
    name = line.name
    latitude = line.coordinates.latitude
    longitude = line.coordinates.longitude
    comments = line.comments
    self.countries = countries
    self.file = AsyncMagical(value: MagicAsset(value: file, pathExtension: "tzif"))
  }
}
