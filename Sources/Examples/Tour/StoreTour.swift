package import Essentials
package import MagicData

/// The operations that the tour performs on a store.
package struct StoreTour {
  package let magic: MagicData

  package init(_ magic: MagicData) {
    self.magic = magic
  }

  /// Saves all countries and zones, including the zone files.
  ///
  /// - Returns: The saved objects.
  package func save(
    _ database: ZoneDatabase
  ) async throws -> (countries: [Country], zones: [Zone]) {
    let countries = database.countries.map { Country($0) }
    let byCode = Dictionary(uniqueKeysWithValues: countries.map { ($0.code, $0) })
    let zones = try database.zones.map { line in
      try Zone(
        line, countries: line.countries.compactMap { byCode[$0] }, file: database.file(of: line))
    }
    // Saving the zones also saves their countries. The second save adds the countries without a
    // zone.
    try await magic.update(zones)
    try await magic.update(countries)
    return (countries, zones)
  }

  /// Counts the zones south of a latitude in three ways with SQL.
  ///
  /// - Returns: The three counts, in this order: the rows that an INSERT added, the result of an
  ///   untyped query, and the result of a typed query.
  package func count(southOf latitude: Double) throws -> [Int] {
    let database = magic.database
    try database.executeChange(
      "CREATE TEMP TABLE IF NOT EXISTS south (name TEXT PRIMARY KEY, latitude REAL)")
    try database.executeChange("DELETE FROM south")
    let change = try database.executeChange(
      "INSERT INTO south SELECT name, latitude FROM Zone WHERE latitude < \(latitude)")
    let rows = try database.executeQuery(
      "SELECT name FROM Zone WHERE latitude < ?", withArgs: [latitude])
    let typed = try database.rows(
      "SELECT name, latitude FROM Zone WHERE latitude < \(latitude)", as: String.self, Double.self)
    return [change.rows, rows.count, typed.count]
  }

  /// Deletes all zones in a transaction and rolls it back.
  ///
  /// - Returns: The number of zones inside the transaction, and after it.
  package func deleteAndRollBack() throws -> (between: Int, after: Int) {
    var between = 0
    _ = try magic.database.write { connection in
      try connection.executeChange("DELETE FROM Zone")
      between = try connection.firstRow("SELECT count(*) FROM Zone", as: Int.self) ?? -1
      return TransactionOutcome.rollback
    }
    return (between, try magic.count(of: Zone.self))
  }

  /// Changes the comment of a zone, fetches the zone again and restores the previous comment.
  ///
  /// - Returns: The changed comment, as fetched.
  package func comment(on name: String) async throws -> String? {
    let zone = try await magic.object(of: Zone.self, primary: name)
    let before = zone.comments
    zone.comments = "visited by the tour"
    try await magic.update(zone)
    let found = try await magic.object(of: Zone.self, primary: name).comments
    zone.comments = before
    try await magic.update(zone)
    return found
  }

  /// Returns the zones north of a latitude.
  package func zones(northOf latitude: Double) async throws -> [Zone] {
    try await magic.objects(of: Zone.self, where: \.$latitude > latitude)
  }

  /// Returns the zones of a country, using the reverse relation.
  package func zones(of code: String) async throws -> [Zone] {
    try await magic.object(of: Country.self, primary: code).zones.get()
  }

  /// Returns the countries of a zone.
  package func countries(of name: String) async throws -> [Country] {
    try await magic.object(of: Zone.self, primary: name).countries
  }

  /// Returns the content of a zone's file, which is loaded on demand.
  package func file(of name: String) async throws -> Data? {
    try await magic.object(of: Zone.self, primary: name).file.get().get()
  }

  /// Returns the latitudes of all zones without creating objects.
  package func latitudes() async throws -> [Double] {
    try await magic.fetch(Zone.all.values(\.$latitude))
  }

  /// Returns the number of pairs of a zone and a country that uses it.
  package func pairCount() async throws -> Int {
    try await magic.object(of: Zone.self).reduce(0) { $0 + $1.countries.count }
  }
}
