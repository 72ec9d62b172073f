package import Essentials
package import MagicData

/// A country in the ISO 3166-1 standard.
package struct Country: MagicObject {
  /// The two-letter ISO 3166-1 code.
  @PrimaryMagicValue package var code: String
  @MagicValue package var name: String
  /// The time zones that this country uses.
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
  /// The latitude in degrees, positive in the north.
  @MagicValue package var latitude: Double
  /// The longitude in degrees, positive in the east.
  @MagicValue package var longitude: Double
  @OptionalMagicValue package var comments: String?
  /// The countries that use the zone. The country with the zone's most populous city is the first.
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
