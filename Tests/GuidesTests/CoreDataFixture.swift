import Foundation
import MagicData
import TestSupport

/// A file with the tables that Core Data creates for the models of the guide "Coming from
/// SwiftData".
///
/// The file is written here, not by Core Data, which exists on Apple's systems only. Its statements
/// follow published schemas of Core Data files: the tables, columns, declared types and indexes of
/// Notes, Kik and Accounts in forensic tools, and descriptions of values with external storage.
struct CoreDataFixture {
  static let paris = UUID(
    uuid: (
      0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F
    ))
  static let rome = UUID(
    uuid: (
      0x0A, 0x8B, 0x8E, 0x0C, 0x6F, 0x7B, 0x4B, 0x8E, 0x9C, 0x0D, 0x2D, 0x1F, 0x3B, 0x5A, 0x7C, 0x99
    ))
  static let file = "2E1F1C0E-9D2C-4B52-8F33-7A3B6D0A1B11"

  let folder: TestFolder
  let store: URL

  init() throws {
    folder = try TestFolder()
    store = URL(filePath: folder.path).appending(path: "default.store")
    let external = URL(filePath: folder.path).appending(path: ".default_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
    try Data("a large photo".utf8).write(to: external.appending(path: Self.file))
    try change(
      """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      CREATE TABLE ZSTOP ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTRIP INTEGER, ZARRIVAL TIMESTAMP, ZPLACE VARCHAR );
      CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
      CREATE TABLE Z_2TRIPS ( Z_2TAGS INTEGER, Z_3TRIPS INTEGER, PRIMARY KEY (Z_2TAGS, Z_3TRIPS) );
      CREATE TABLE ZTRIP ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISARCHIVED INTEGER, ZSTART TIMESTAMP, ZBUDGET DECIMAL, ZNAME VARCHAR, ZCODE BLOB, ZNOTES BLOB, ZPHOTO BLOB );
      CREATE INDEX ZSTOP_ZTRIP_INDEX ON ZSTOP (ZTRIP);
      CREATE INDEX Z_2TRIPS_Z_3TRIPS_INDEX ON Z_2TRIPS (Z_3TRIPS, Z_2TAGS);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Stop', 0, 3), (2, 'Tag', 0, 2), (3, 'Trip', 0, 2);
      INSERT INTO Z_METADATA VALUES (1, '1F1C0E2E-9D2C-4B52-8F33-7A3B6D0A1B11', NULL);
      INSERT INTO ZTAG VALUES (1, 2, 1, 'family'), (2, 2, 1, 'train');
      INSERT INTO ZSTOP VALUES (1, 1, 1, 1, 800000000, 'Gare de Lyon'), (2, 1, 1, 1, 800003600.25, 'Louvre'),
        (3, 1, 1, 2, -86400, 'Termini');
      INSERT INTO Z_2TRIPS VALUES (1, 1), (2, 1), (2, 2);
      """)
    let database = try Database(path: store.path)
    try database.write { connection in
      let list = try PropertyListEncoder.binary.encode(["Book the hotel", "Buy a map"])
      let other = try PropertyListEncoder.binary.encode(["Learn Italian", "Learn Italian"])
      try connection.executeChange(
        """
        INSERT INTO ZTRIP VALUES
          (1, 3, 1, 0, 800000000.5, 1200.1, 'Paris', \(Self.paris.bytes), \([UInt8](list)),
            \([1] + [UInt8]("a small photo".utf8))),
          (2, 3, 4, 1, -86400, NULL, 'Roma', \(Self.rome.bytes), \([UInt8](other)),
            \([2] + [UInt8](Self.file.utf8) + [0]))
        """)
    }
  }

  /// Executes statements that damage the file.
  func change(_ statements: SQL) throws {
    let database = try Database(path: store.path)
    try database.executeMultipleChanges(statements)
  }
}

extension UUID {
  var bytes: [UInt8] { unsafe withUnsafeBytes(of: uuid) { unsafe Array($0) } }
}

extension PropertyListEncoder {
  static var binary: PropertyListEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return encoder
  }
}
