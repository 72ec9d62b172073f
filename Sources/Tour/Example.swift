/// The zone and the country that the tour looks at more closely.
struct Example {
  let zone: String
  let country: String

  /// Takes known ones if they are there, else what comes first; nil if there is nothing.
  init?(_ database: ZoneDatabase) {
    let zones = database.zones
    guard let zone = zones.first(where: { $0.name == "Europe/Zurich" }) ?? zones.first,
      let country = zones.contains(where: { $0.countries.contains("CA") })
        ? "CA" : zone.countries.first
    else { return nil }
    self.zone = zone.name
    self.country = country
  }
}
