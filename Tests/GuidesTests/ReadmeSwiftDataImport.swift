import Foundation
import MagicData

// The program of the guide "Coming from SwiftData", line by line.

struct Trip: MagicObject {
  @PrimaryMagicValue var code: UUID
  @MagicValue var name: String
  @MagicValue var start: Date
  @OptionalMagicValue var budget: Decimal?
  @MagicValue var isArchived = false
  @MagicValue var notes: [String] = []
  @MagicValue var photo: MagicAsset<Data> = MagicAsset()
  @MagicValue var tags: MagicalSet<Tag> = []
  @ReverseMagicValue(\Stop.$trip) var stops: AsyncReverseMagicSet<Stop>

  init() {}
}

struct Stop: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$trip, .cascade)] }

  @MagicValue var place: String
  @MagicValue var arrival: Date
  @MagicValue var trip: Trip

  init() {}
}

struct Tag: MagicObject {
  @MagicValue var name: String

  init() {}
}

struct CoreDataTrip: Record {
  static let tableName = "ZTRIP"
  static let primaryKey = "Z_PK"
  static let isReadOnly = true
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.dates = .secondsSinceReferenceDate
    strategies.uuids = .blob
    return strategies
  }

  var id: Int
  var code: UUID
  var name: String
  var start: Date
  var budget: Double?
  var isArchived: Bool
  var notes: Data?
  var photo: Data?

  private enum CodingKeys: String, CodingKey {
    case id = "Z_PK"
    case code = "ZCODE"
    case name = "ZNAME"
    case start = "ZSTART"
    case budget = "ZBUDGET"
    case isArchived = "ZISARCHIVED"
    case notes = "ZNOTES"
    case photo = "ZPHOTO"
  }
}

struct CoreDataStop: Record {
  static let tableName = "ZSTOP"
  static let primaryKey = "Z_PK"
  static let isReadOnly = true
  static var strategies: MappingStrategies {
    var strategies = MappingStrategies()
    strategies.dates = .secondsSinceReferenceDate
    strategies.uuids = .blob
    return strategies
  }

  var id: Int
  var place: String
  var arrival: Date
  var trip: Int

  private enum CodingKeys: String, CodingKey {
    case id = "Z_PK"
    case place = "ZPLACE"
    case arrival = "ZARRIVAL"
    case trip = "ZTRIP"
  }
}

struct CoreDataTag: Record {
  static let tableName = "ZTAG"
  static let primaryKey = "Z_PK"
  static let isReadOnly = true

  var id: Int
  var name: String

  private enum CodingKeys: String, CodingKey {
    case id = "Z_PK"
    case name = "ZNAME"
  }
}

let tripTables = [
  CoreDataTable("ZTAG", required: ["ZNAME"]),
  CoreDataTable(
    "ZTRIP", required: ["ZCODE", "ZNAME", "ZSTART", "ZISARCHIVED"],
    optional: ["ZBUDGET", "ZNOTES", "ZPHOTO"], uuids: ["ZCODE"]),
  CoreDataTable(
    "ZSTOP", required: ["ZPLACE", "ZARRIVAL", "ZTRIP"], references: ["ZTRIP": "ZTRIP"]),
  CoreDataTable(
    "Z_2TRIPS", required: ["Z_2TAGS", "Z_3TRIPS"],
    references: ["Z_2TAGS": "ZTAG", "Z_3TRIPS": "ZTRIP"]),
]

/// The values of a file that an import can't read, and how many there are of each kind.
struct ImportProblems: Error, CustomStringConvertible {
  var counts: [String: Int] = [:]

  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "\n")
  }

  mutating func add(_ problem: String, _ count: Int = 1) {
    if count > 0 { counts[problem, default: 0] += count }
  }
}

/// A table of a Core Data file, with the columns that an import reads.
struct CoreDataTable {
  var name: String
  var required: [String]
  var optional: [String]
  /// For each column that references rows: the table of these rows.
  var references: [String: String]
  /// The columns that contain UUIDs.
  var uuids: Set<String>

  init(
    _ name: String, required: [String], optional: [String] = [],
    references: [String: String] = [:], uuids: Set<String> = []
  ) {
    self.name = name
    self.required = required
    self.optional = optional
    self.references = references
    self.uuids = uuids
  }

  /// Adds the values to `problems` that don't fit the type of their column.
  func check(_ connection: Connection, _ problems: inout ImportProblems) throws {
    let columns = try connection.rows(
      "SELECT name, type FROM pragma_table_info(\(name))", as: String.self, String.self)
    guard !columns.isEmpty else { return problems.add("\(name): missing table") }
    let types = Dictionary(uniqueKeysWithValues: columns)
    for column in required + optional {
      let place = "\(name).\(column)"
      let value: SQL = "\(identifier: column)"
      func count(_ condition: SQL) throws -> Int {
        try connection.rows(
          "SELECT count(*) FROM \(identifier: name) WHERE \(condition)", as: Int.self)[0]
      }
      guard let type = types[column] else {
        problems.add("\(place): missing column")
        continue
      }
      if required.contains(column) {
        problems.add("\(place): no value", try count("\(value) IS NULL"))
      }
      switch type {
      case "INTEGER":
        problems.add(
          "\(place): not an integer", try count("typeof(\(value)) NOT IN ('integer', 'null')"))
      case "FLOAT", "DECIMAL", "TIMESTAMP":
        problems.add(
          "\(place): not a number",
          try count("typeof(\(value)) NOT IN ('integer', 'real', 'null')"))
      case "VARCHAR":
        problems.add("\(place): not a text", try count("typeof(\(value)) NOT IN ('text', 'null')"))
      case "BLOB":
        problems.add("\(place): not a blob", try count("typeof(\(value)) NOT IN ('blob', 'null')"))
      default:
        problems.add("\(place): unknown type \(type)")
      }
      if type == "TIMESTAMP" {
        // The years 0000 to 9999, in seconds since 2001.
        let isInRange: SQL = "\(value) >= -63145526400 AND \(value) < 252423993600"
        problems.add(
          "\(place): date out of range",
          try count("typeof(\(value)) IN ('integer', 'real') AND NOT (\(isInRange))"))
      }
      if uuids.contains(column) {
        problems.add(
          "\(place): not a UUID",
          try count("typeof(\(value)) = 'blob' AND length(\(value)) <> 16"))
      }
      if let target = references[column], try connection.tableExists(target) {
        problems.add(
          "\(place): no such row in \(target)",
          try count("\(value) NOT IN (SELECT Z_PK FROM \(identifier: target))"))
      }
    }
  }
}

/// Returns the asset for a value with external storage.
///
/// The first byte of such a value is 1 if the content follows, and 2 if the name of a file follows.
func asset(
  from stored: Data?, in folder: URL, _ problems: inout ImportProblems
) -> MagicAsset<Data> {
  var asset = MagicAsset<Data>()
  guard let stored else { return asset }
  let content = stored.dropFirst()
  switch stored.first {
  case 1:
    asset = MagicAsset(value: Data(content))
  case 2:
    let name = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
    let file = folder.appending(path: name)
    // A name that isn't a UUID could be the path of any file.
    if UUID(uuidString: name) != nil, FileManager.default.fileExists(atPath: file.path) {
      asset.copy(from: file)
    } else {
      problems.add("ZTRIP.ZPHOTO: missing file")
    }
  default:
    problems.add("ZTRIP.ZPHOTO: unknown form")
  }
  return asset
}

/// Returns an array of strings, which is stored as a property list or, on Apple's systems, as an
/// archive.
func strings(from stored: Data?, _ problems: inout ImportProblems) -> [String] {
  guard let stored else { return [] }
  if let strings = try? PropertyListDecoder().decode([String].self, from: stored) { return strings }
  #if canImport(ObjectiveC)
    let object = try? NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSArray.self, NSString.self], from: stored)
    if let strings = object as? [String] { return strings }
  #endif
  problems.add("ZTRIP.ZNOTES: not an array of strings")
  return []
}

/// Copies all trips with their stops and tags. If a value can't be read, throws and copies nothing.
func importTrips(from store: URL, into magic: MagicData) throws {
  let name = store.deletingPathExtension().lastPathComponent
  let folder = store.deletingLastPathComponent().appending(path: ".\(name)_SUPPORT/_EXTERNAL_DATA")
  let file = try Database(path: store.path, options: .readOnly)
  let (trips, stops) = try file.read { connection in
    var problems = ImportProblems()
    for table in tripTables { try table.check(connection, &problems) }
    guard problems.counts.isEmpty else { throw problems }

    var tags: [Int: Tag] = [:]
    for row in try connection.objects(of: CoreDataTag.self) {
      let tag = Tag()
      tag.name = row.name
      tags[row.id] = tag
    }
    var trips: [Int: Trip] = [:]
    for row in try connection.objects(of: CoreDataTrip.self) {
      let trip = Trip()
      trip.code = row.code
      trip.name = row.name
      trip.start = row.start
      trip.budget = row.budget.flatMap { Decimal(string: "\($0)") }
      trip.isArchived = row.isArchived
      trip.notes = strings(from: row.notes, &problems)
      trip.photo = asset(from: row.photo, in: folder, &problems)
      trips[row.id] = trip
    }
    for (tag, trip) in try connection.rows(
      "SELECT Z_2TAGS, Z_3TRIPS FROM Z_2TRIPS", as: Int.self, Int.self)
    {
      if let tag = tags[tag] { trips[trip]?.tags.insert(tag) }
    }
    var stops: [Stop] = []
    for row in try connection.objects(of: CoreDataStop.self) {
      guard let trip = trips[row.trip] else { continue }
      let stop = Stop()
      stop.place = row.place
      stop.arrival = row.arrival
      stop.trip = trip
      stops.append(stop)
    }
    guard problems.counts.isEmpty else { throw problems }
    return (trips.sorted { $0.key < $1.key }.map(\.value), stops)
  }
  try magic.transaction {
    try magic.insert(trips)
    try magic.update(stops)
  }
}
