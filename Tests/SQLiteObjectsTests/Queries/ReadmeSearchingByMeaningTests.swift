import Foundation
import MagicData
import SQLitePortable
import TestSupport
import Testing

/// The extension sqlite-vec. `.ci/run` downloads it and passes its path in the environment.
nonisolated enum VectorExtension {
  static let path = ProcessInfo.processInfo.environment["MAGICDATA_SQLITE_VEC"]
  static let isAvailable = path?.isEmpty == false
}

/// A vector of 32-bit floats, stored as a blob.
struct Embedding: Codable, Hashable, Sendable, Bindable {
  private let bytes: [UInt8]

  init(_ numbers: [Float]) { bytes = unsafe numbers.withUnsafeBytes { unsafe Array($0) } }

  init(from decoder: any Decoder) throws {
    bytes = try decoder.singleValueContainer().decode([UInt8].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes)
  }

  var databaseValue: Value { .blob(bytes) }
}

// The code of the article on searching by meaning, block by block. `.ci/checks/readme` compares the
// texts.
@Suite(
  .enabled(
    if: VectorExtension.isAvailable,
    "sqlite-vec is missing: set MAGICDATA_SQLITE_VEC to the path of vec0.so"))
struct ReadmeSearchingByMeaningTests {
  struct Note: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var text: String
    @MagicValue var embedding: Embedding
    @MagicValue var folder: Folder

    init() {}
  }

  struct Folder: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var isShared: Bool

    init() {}
  }

  /// A store with notes, of which every fourth is in a shared folder.
  struct Fixture {
    let folder: TestFolder
    let magic: MagicData
    /// The vectors of the notes, in the order of their IDs from 1.
    let vectors: [[Float]]
    let vector: [Float]

    init(count: Int) throws {
      let folder = try TestFolder()
      let path = VectorExtension.path ?? ""
      var options = Database.Options()
      options.extensions = [.library(path)]
      let magic = try MagicData(path: folder.file("notes"), options: options)
      self.folder = folder
      self.magic = magic
      var generator = SplitMix64(seed: 37)
      func random() -> [Float] {
        (0..<384).map { _ in Float(Int32(truncatingIfNeeded: generator.next())) }
      }
      vectors = (0..<count).map { _ in random() }
      vector = random()
      let folders = (0..<8).map { number in
        let folder = Folder()
        (folder.name, folder.isShared) = ("Folder \(number)", number % 4 == 0)
        return folder
      }
      try magic.update(
        vectors.enumerated().map { index, vector in
          let note = Note()
          note.text = "Note \(index + 1)"
          note.embedding = Embedding(vector)
          note.folder = folders[(index + 1) % 8]
          return note
        })
    }

    /// Returns the IDs of the notes in shared folders and their distances, the nearest first,
    /// computed without SQLite.
    func distances() -> [(id: Int, distance: Double)] {
      func product(_ left: [Float], _ right: [Float]) -> Double {
        var sum = 0.0
        for index in 0..<384 { sum += Double(left[index]) * Double(right[index]) }
        return sum
      }
      let length = product(vector, vector).squareRoot()
      return stride(from: 4, through: vectors.count, by: 4).map { id in
        let other = vectors[id - 1]
        let size = length * product(other, other).squareRoot()
        return (id: id, distance: 1 - product(vector, other) / size)
      }.sorted { $0.distance < $1.distance }
    }
  }

  private func isClose(_ left: [Double], _ right: [Double]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { abs($0 - $1) < 0.000_01 }
  }

  @Test func `the nearest 10 of 10,000 notes are those that Swift computes`() throws {
    let fixture = try Fixture(count: 10_000)
    let (magic, vector) = (fixture.magic, fixture.vector)
    let expected = fixture.distances()
    let (ids, distances) = (expected.prefix(10).map(\.id), expected.prefix(10).map(\.distance))

    let query = Embedding(vector)
    let distance = MagicExpression<Note, Double>(
      sql: "vec_distance_cosine(\(\.$embedding), \(query))")
    let notes = try magic.fetch(
      Note.where(\.$folder.$isShared == true).ordered(by: .ascending(distance)).limit(10))
    let close = try magic.count(of: Note.self, where: distance < 0.9)
    #expect(notes.map(\.id) == ids)
    #expect(notes.first?.embedding == Embedding(fixture.vectors[ids[0] - 1]))
    #expect(close > 0)

    nonisolated struct Match: Decodable {
      var id: Int
      var text: String
      var distance: Double
    }
    let matches = try magic.database.fetch(
      .sql(
        """
        SELECT note.id, note.text, vec_distance_cosine(note.embedding, \(query)) AS distance
        FROM Note AS note JOIN Folder AS folder ON folder.id = note.folder
        WHERE folder.isShared ORDER BY distance LIMIT 10
        """, as: Match.self))
    #expect(matches.map(\.id) == ids)
    #expect(isClose(matches.map(\.distance), distances))

    try magic.database.executeMultipleChanges(
      """
      CREATE VIRTUAL TABLE note_vector USING vec0 (
        embedding float[384] distance_metric=cosine);
      INSERT INTO note_vector (rowid, embedding) SELECT id, embedding FROM Note
      """)
    let rows = try magic.database.rows(
      """
      SELECT rowid, distance FROM note_vector WHERE embedding MATCH \(query) AND k = 10
      AND rowid IN (
        SELECT note.id FROM Note AS note JOIN Folder AS folder ON folder.id = note.folder
        WHERE folder.isShared)
      ORDER BY distance
      """, as: Int.self, Double.self)
    #expect(rows.map(\.0) == ids)
    #expect(isClose(rows.map(\.1), distances))
  }

  /// Returns the IDs of the nearest notes in the vector table.
  private func nearest(_ count: Int, _ database: Database, _ vector: [Float]) throws -> [Int] {
    try database.rows(
      """
      SELECT rowid FROM note_vector WHERE embedding MATCH \(Embedding(vector)) AND k = \(count)
      ORDER BY distance
      """, as: Int.self)
  }

  @Test func `an object and its vector are written in one transaction`() throws {
    let fixture = try Fixture(count: 20)
    let (magic, vector) = (fixture.magic, fixture.vector)
    try magic.database.executeMultipleChanges(tableSQL)
    let note = Note()
    (note.text, note.embedding) = ("New", Embedding(vector))
    note.folder = try #require(try magic.objects(of: Folder.self).first)
    try magic.transaction {
      try magic.update(note)
      try magic.database.write { connection in
        try connection.executeChange(
          """
          INSERT INTO note_vector (rowid, embedding)
          SELECT id, embedding FROM Note WHERE id = \(note.id)
          """)
      }
    }
    #expect(try nearest(1, magic.database, vector) == [21])
    // A rollback removes both.
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.database.executeChange("DELETE FROM note_vector WHERE rowid = 21")
        try magic.remove(note)
        throw Stop()
      }
    }
    #expect(try nearest(1, magic.database, vector) == [21])
    #expect(try magic.count(of: Note.self) == 21)
  }

  @Test func `a condition on a joined table is applied after the nearest rows are found`() throws {
    let fixture = try Fixture(count: 100)
    try fixture.magic.database.executeMultipleChanges(tableSQL)
    let found = try fixture.magic.database.rows(
      """
      SELECT note.id FROM note_vector JOIN Note AS note ON note.id = note_vector.rowid
      JOIN Folder AS folder ON folder.id = note.folder
      WHERE note_vector.embedding MATCH \(Embedding(fixture.vector)) AND k = 10
      AND folder.isShared
      """, as: Int.self)
    #expect(found.count < 10)
  }

  @Test func `a trigger can write to a vector table only if the schema is trusted`() throws {
    let fixture = try Fixture(count: 20)
    let path = fixture.folder.file("notes")
    let trigger: SQL = """
      CREATE TRIGGER add_vector AFTER INSERT ON Note BEGIN
        INSERT INTO note_vector (rowid, embedding) VALUES (new.id, new.embedding);
      END
      """
    try fixture.magic.database.executeMultipleChanges(tableSQL)
    try fixture.magic.database.executeChange(trigger)
    for isTrusted in [false, true] {
      var options = fixture.magic.database.options
      options.trustedSchema = isTrusted
      let magic = try MagicData(path: path, options: options)
      let note = Note()
      (note.text, note.embedding) = ("New", Embedding(fixture.vector))
      note.folder = try #require(try magic.objects(of: Folder.self).first)
      let result = Result { try magic.update(note) }
      #expect(((try? result.get()) != nil) == isTrusted)
      #expect(try (nearest(1, magic.database, fixture.vector) == [21]) == isTrusted)
    }
  }

  @Test func `a store with a vector table can be used without the extension`() throws {
    let fixture = try Fixture(count: 20)
    try fixture.magic.database.executeMultipleChanges(tableSQL)
    try fixture.magic.close()
    let magic = try MagicData(path: fixture.folder.file("notes"))
    let note = try #require(try magic.objects(of: Note.self).first)
    note.text = "Changed"
    try magic.update(note)
    #expect(try magic.database.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
    let copy = try Database.memory(serialized: magic.database.serialized())
    try copy.executeChange("DELETE FROM Note WHERE id = 2")
    for database in [magic.database, copy] {
      let error = #expect(throws: SQLiteError.self) {
        _ = try nearest(1, database, fixture.vector)
      }
      #expect(
        error?.message
          == "no such module: vec0; pass the extension with this module in Options.extensions")
    }
    try magic.close()
    let path = fixture.folder.file("notes/default.sqlite3")
    #expect(throws: SQLiteError.self) { try Database(path: path, options: .untrusted) }
  }

  @Test func `a vector table can be copied and exported`() throws {
    let fixture = try Fixture(count: 20)
    let (database, folder) = (fixture.magic.database, fixture.folder)
    try database.executeMultipleChanges(tableSQL)
    let expected = try nearest(5, database, fixture.vector)
    var options = Database.Options()
    options.extensions = database.options.extensions
    let file = DataFile.spon(path: folder.file("dump.spon"))
    try database.dump(to: file)
    try database.vacuum(into: folder.file("vacuum.sqlite3"))
    let backup = try Database(path: folder.file("backup.sqlite3"))
    try database.backup(to: backup)
    try backup.close()
    let copies = [
      try Database.memory(restoring: file, options: options),
      try Database.memory(serialized: database.serialized(), options: options),
      try Database(path: folder.file("vacuum.sqlite3"), options: options),
      try Database(path: folder.file("backup.sqlite3"), options: options),
    ]
    for copy in copies {
      #expect(try nearest(5, copy, fixture.vector) == expected)
      try copy.executeChange("DELETE FROM note_vector WHERE rowid = \(expected[0])")
      #expect(try nearest(4, copy, fixture.vector) == Array(expected.dropFirst()))
    }
    // Restoring without the extension keeps the rows of the table.
    let plain = try Database.memory(restoring: file)
    try plain.dump(to: .spon(path: folder.file("again.spon")))
    let again = try Database.memory(
      restoring: .spon(path: folder.file("again.spon")), options: options)
    #expect(try nearest(5, again, fixture.vector) == expected)
  }

  @Test func `a search in a vector table can be observed`() async throws {
    let fixture = try Fixture(count: 20)
    let database = fixture.magic.database
    try await database.executeMultipleChanges(tableSQL)
    let expected = try nearest(5, database, fixture.vector)
    let changes = database.observe(
      .sql(
        """
        SELECT rowid FROM note_vector WHERE embedding MATCH \(Embedding(fixture.vector)) AND k = 5
        ORDER BY distance
        """, as: Int.self))
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() == expected)
    try await database.executeChange("DELETE FROM note_vector WHERE rowid = \(expected[0])")
    #expect(try await iterator.next()?.prefix(4) == expected.dropFirst())
  }
}

private struct Stop: Error {}

private let tableSQL: SQL = """
  CREATE VIRTUAL TABLE note_vector USING vec0 (
    embedding float[384] distance_metric=cosine);
  INSERT INTO note_vector (rowid, embedding) SELECT id, embedding FROM Note
  """

/// The part of the article that needs no extension.
@Suite struct ReadmeLinkedExtensionTests {
  /// An entry point like that of sqlite-vec, which adds nothing. C functions are nonisolated.
  private nonisolated func sqlite3_vec_init(
    _ connection: OpaquePointer?, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ routines: OpaquePointer?
  ) -> Int32 { 0 }

  @Test func `an extension can be linked into the program`() throws {
    var options = Database.Options()
    options.extensions = [
      unsafe .linked("vec0") { unsafe sqlite3_vec_init($0, $1, nil) }
    ]
    #expect(try Database.memory(options: options).rows("SELECT 1", as: Int.self) == [1])
  }
}
