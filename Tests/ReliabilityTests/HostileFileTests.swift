import Foundation
import Fuzzing
import MagicData
import Testing
import TestSupport
import Workload

/// Tests files that aren't what they claim to be: truncated, corrupted and fabricated databases,
/// WALs and journals.
///
/// `MAGICDATA_FILES` sets the number of files.
@Suite struct HostileFileTests {
  static let count =
    ProcessInfo.processInfo.environment["MAGICDATA_FILES"].flatMap { Int($0) } ?? 500

  /// The files of one database at one moment, keyed by the suffix of their names.
  private typealias Files = [String: [UInt8]]

  private static func files(at path: String) throws -> Files {
    var files: Files = [:]
    for suffix in ["", "-wal", "-journal"] {
      guard let data = try? Data(contentsOf: URL(filePath: path + suffix)) else { continue }
      files[suffix] = [UInt8](data)
    }
    return files
  }

  private static func fill(_ database: Database) throws {
    let items = (1...60).map { DatabaseImage.Item(id: $0, name: "n\($0)") }
    try database.write { try $0.insert(contentsOf: items) }
    try database.executeMultipleChanges(
      """
      CREATE TABLE other (a PRIMARY KEY, b UNIQUE, c AS (a || b)) WITHOUT ROWID;
      CREATE VIEW both AS SELECT * FROM other JOIN Item ON Item.name = other.a;
      CREATE TRIGGER gone AFTER DELETE ON Item BEGIN DELETE FROM other WHERE a = OLD.name; END;
      """)
    try database.executeChange("INSERT INTO other SELECT name, id FROM Item")
  }

  /// Returns a database with its WAL, one after its checkpoint, and one with a hot journal.
  private static func bases() throws -> [Files] {
    let folder = try TestFolder.inMemory()
    let log = try Database(path: folder.file("log"))
    try prepare(log)
    try fill(log)
    let withLog = try files(at: folder.file("log"))
    try log.close()
    var options = Database.Options()
    options.journalMode = .delete
    options.cacheSize = 8
    let journal = try Database(path: folder.file("journal"), options: options)
    try prepare(journal)
    try fill(journal)
    struct Stop: Error {}
    var withJournal: Files = [:]
    #expect(throws: Stop.self) {
      try journal.write { connection in
        try connection.executeChange("UPDATE Item SET data = zeroblob(900)")
        withJournal = try files(at: folder.file("journal"))
        throw Stop()
      }
    }
    #expect(withJournal["-journal"]?.isEmpty == false)
    return [withLog, try files(at: folder.file("log")), withJournal]
  }

  private static func prepare(_ database: Database) throws {
    try database.withoutTransaction { connection in
      // Small pages make each byte significant.
      try connection.executeChange("PRAGMA page_size = 512")
      try connection.executeChange("VACUUM")
    }
  }

  /// Returns a copy of the files with damage in one of them.
  private static func damage(
    _ files: Files, _ number: Int, _ random: inout SplitMix64
  ) -> Files {
    var files = files
    let names = files.keys.sorted().filter { files[$0]?.isEmpty == false }
    let name = names[number % names.count]
    guard var bytes = files[name] else { return files }
    func place() -> Int { Int.random(in: 0..<bytes.count, using: &random) }
    switch number / names.count % 9 {
    case 0: bytes.removeSubrange((place() / 512 * 512)...)
    case 1: bytes.removeSubrange(place()...)
    case 2: for _ in 0...number % 40 { bytes[place()] ^= 1 << UInt8(random.next() % 8) }
    case 3:
      let page = place() / 512 * 512
      for index in page..<min(bytes.count, page + 512) { bytes[index] = 0 }
    case 4:
      // The header: page size, versions, counts, encoding, schema format.
      let index = Int.random(in: 0..<min(100, bytes.count), using: &random)
      bytes[index] = [0, 1, 0x7f, 0x80, 0xff][Int(random.next() % 5)]
    case 5: for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
    case 6:
      // One page overwrites another.
      let (from, to) = (place() / 512 * 512, place() / 512 * 512)
      for index in 0..<512 where from + index < bytes.count && to + index < bytes.count {
        bytes[to + index] = bytes[from + index]
      }
    case 7:
      // The page header: type, cells, free blocks.
      let page = place() / 512 * 512
      for _ in 0..<4 {
        let index = page + Int(random.next() % 16)
        if index < bytes.count { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
      }
    default: bytes += (0..<700).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    files[name] = bytes
    return files
  }

  @Test func `damaged databases, WALs and journals return data or throw`() throws {
    let bases = try Self.bases()
    var random = SplitMix64(seed: 4)
    var readable = 0
    for number in 0..<Self.count {
      let folder = try TestFolder.inMemory()
      let files = Self.damage(bases[number % bases.count], number / bases.count, &random)
      for (suffix, bytes) in files { try folder.write(bytes, to: "data.sqlite3\(suffix)") }
      if try Self.use(folder.file(), number) { readable += 1 }
    }
    // Some damage is harmless, and some makes the database unreadable.
    #expect(readable > 0 && readable < Self.count)
    print("files: \(Self.count), \(readable) of them readable")
  }

  /// Opens a database in one of several ways and uses it.
  ///
  /// - Returns: Whether all records could be read.
  private static func use(_ path: String, _ number: Int) throws -> Bool {
    do {
      switch number % 4 {
      case 0: try DatabaseImage.use(Database(path: path, options: DatabaseImage.options()))
      case 1: try DatabaseImage.use(Database(path: path, options: .readOnly))
      case 2: try DatabaseImage.use(Database(path: path))
      default:
        let magic = try MagicData(path: path)
        try magic.update(Document("a", 1))
        _ = try magic.object(of: Document.self)
        _ = try magic.assets.verify()
        try magic.database.close()
      }
      let database = try Database(path: path, options: .untrusted)
      return try database.read { try $0.objects(of: DatabaseImage.Item.self) }.count == 60
    } catch is SQLiteError {
      return false
    } catch is RowDecodingError {
      return false
    } catch is AssetError {
      return false
    } catch is SchemaError {
      return false
    } catch is MagicError {
      return false
    }
  }

  static let made: [(String, [UInt8])] = {
    let magic = Array("SQLite format 3\0".utf8)
    func header(_ rest: [UInt8]) -> [UInt8] {
      magic + rest + [UInt8](repeating: 0, count: 4_096 - 16 - rest.count)
    }
    return [
      ("only the magic", magic), ("a header of zeros", header([])),
      ("a page size of 1", header([0, 1, 1, 1, 0, 64, 32, 32])),
      ("a page size of 3", header([0, 3, 1, 1, 0, 64, 32, 32])),
      ("a page size of 65,535", header([255, 255, 1, 1, 0, 64, 32, 32])),
      ("no usable bytes", header([2, 0, 1, 1, 255, 64, 32, 32])),
      ("a future version", header([16, 0, 9, 9, 0, 64, 32, 32])),
      ("a future version for reading", header([16, 0, 1, 3, 0, 64, 32, 32])),
      ("other fractions", header([16, 0, 1, 1, 0, 65, 33, 31])),
      (
        "the maximum page count",
        header([16, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 1, 255, 255, 255, 255])
      ),
      ("zeros", [UInt8](repeating: 0, count: 8_192)), ("one byte", [83]),
      ("ones", [UInt8](repeating: 255, count: 1_024)),
    ]
  }()

  @Test(arguments: made.indices) func `fabricated headers are rejected or read`(index: Int) throws {
    let folder = try TestFolder.inMemory()
    let bytes = Self.made[index].1
    for suffix in ["", "-wal", "-journal"] {
      try folder.write(bytes, to: "data.sqlite3")
      if !suffix.isEmpty { try folder.write(bytes.reversed(), to: "data.sqlite3\(suffix)") }
      for options in [Database.Options.untrusted, .readOnly, .init()] {
        do {
          try DatabaseImage.use(Database(path: folder.file(), options: options))
        } catch is SQLiteError {
          // Most are rejected.
        }
      }
    }
  }

  @Test func `garbage in the WAL or journal of a good database loses no data`() throws {
    let folder = try TestFolder.inMemory()
    var random = SplitMix64(seed: 1)
    for suffix in ["-wal", "-journal", "-shm"] {
      let database = try Database(path: folder.file())
      try database.write { try $0.update(DatabaseImage.Item(id: 1, name: "a")) }
      try database.close()
      let garbage = (0..<5_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      try folder.write(garbage, to: "data.sqlite3\(suffix)")
      let again = try Database(path: folder.file())
      #expect(
        try again.read { try $0.objects(of: DatabaseImage.Item.self) } == [.init(id: 1, name: "a")])
      try again.write { try $0.update(DatabaseImage.Item(id: 2, name: "b")) }
      #expect(try again.read { try $0.count(of: DatabaseImage.Item.self) } == 2)
      try again.write { try $0.removeAll(of: DatabaseImage.Item.self) }
      try again.close()
    }
  }
}
