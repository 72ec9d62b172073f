import CSQLite
import Foundation
import MagicData
import SQLiteCore

/// A report on how the cost of single calls grows with the database, compared with the same work in
/// C on the same file. The ratio to C must not grow with the size.
struct GrowthReport {
  private let path: String

  init(_ fixtures: Fixtures) {
    path = fixtures.folder.appending(path: "growth.sqlite").path
  }

  /// Measures databases from 500 to `rows` rows. Each size is ten times the previous one.
  func run(rows: Int) throws {
    let works = GrowthWork.all
    print(
      "Processor time of C in microseconds / ratio of objects to C, median of \(Self.rounds) rounds"
    )
    print((["rows", "MiB"] + works.map(\.name)).joined(separator: "\t"))
    var size = 500
    while size <= rows {
      try fill(size)
      let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      var cells = ["\(size)", "\(bytes / 1_048_576)"]
      for work in works { cells.append(try measure(work, size)) }
      print(cells.joined(separator: "\t"))
      size *= 10
    }
  }

  private static let rounds = 7

  private func measure(_ work: GrowthWork, _ size: Int) throws -> String {
    let magic = try MagicData(settingsAt: path)
    let connection = try CConnection(path: path)
    var times: [Double] = []
    var ratios: [Double] = []
    var generator = SplitMix64(seed: 9)
    for round in 0...Self.rounds {
      let keys = (0..<work.calls).map { _ in Int.random(in: 1...size, using: &generator) }
      var found = (0, 0)
      let c = try Self.microseconds { found.0 = try work.c(connection, keys) }
      let object = try Self.microseconds { found.1 = try work.object(magic, keys) }
      guard found.0 == found.1 else {
        throw Failure("\(work.name) and C found different rows: \(found)")
      }
      // The first round is a warm-up that initializes types and reads pages.
      if round == 0 { continue }
      times.append(c / Double(work.calls))
      ratios.append(object / c)
    }
    try magic.close()
    return "\(fixed(times.quantile(0.5), digits: 1)) / \(fixed(ratios.quantile(0.5), digits: 2))"
  }

  /// Returns the processor time that `work` takes on this thread, in Swift, SQLite and the system.
  /// It hardly depends on the load of the machine.
  private static func microseconds(of work: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
    let start = now()
    try work()
    return now() - start
  }

  /// Creates the database again: `size` things of about 160 bytes, a tenth as many pieces, and a
  /// hundredth as many boxes that the pieces reference.
  private func fill(_ size: Int) throws {
    for end in ["", "-wal", "-shm"] {
      let file = path + end
      if FileManager.default.fileExists(atPath: file) {
        try FileManager.default.removeItem(atPath: file)
      }
    }
    let magic = try MagicData(settingsAt: path)
    let box = Box()
    box.name = ""
    let piece = Piece()
    piece.title = ""
    piece.box = box
    try magic.update(piece)
    try magic.update(Thing(name: "", bucket: 0, text: ""))
    try magic.database.write { connection in
      for table in ["Thing", "Piece", "Box"] {
        try connection.executeChange("DELETE FROM \(identifier: table)")
      }
      try connection.executeChange("DELETE FROM sqlite_sequence")
      let boxes = max(1, size / 100)
      try connection.executeChange(
        "\(numbers(boxes)) INSERT INTO Box (id, name) SELECT i, 'box ' || i FROM n")
      try connection.executeChange(
        "\(numbers(max(1, size / 10))) INSERT INTO Piece (id, title, box) SELECT i, 'piece ' || i, i * 7919 % \(boxes) + 1 FROM n"
      )
      try connection.executeChange(
        "\(numbers(size)) INSERT INTO Thing (id, name, bucket, text) SELECT i, 'thing ' || i, i * 7919 % \(max(1, size / 10)), hex(zeroblob(60)) FROM n"
      )
    }
    try magic.close()
  }

  private func numbers(_ count: Int) -> SQLiteCore.SQL {
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
  }
}

private struct Thing: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var bucket: Int
  @MagicValue var text: String

  static var traits: [PropertyTrait] { [.indexed(\Self.$bucket)] }

  init() {}

  init(name: String, bucket: Int, text: String) {
    self.name = name
    self.bucket = bucket
    self.text = text
  }
}

private struct Box: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @ReverseMagicValue(\Piece.$box) var pieces: AsyncReverseMagicSet<Piece>

  init() {}
}

private struct Piece: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var box: Box

  init() {}
}

/// A kind of call. Both implementations return a number that shows whether they found the same
/// rows.
private struct GrowthWork: Sendable {
  let name: String
  /// The number of calls in a round.
  let calls: Int
  let c: @Sendable (CConnection, [Int]) throws -> Int
  let object: @Sendable (MagicData, [Int]) throws -> Int

  static let all = [
    GrowthWork(name: "point", calls: 1_000) { connection, keys in
      let things = try connection.things("WHERE id = ?", keys)
      return things.reduce(0) { $0 &+ $1.bucket }
    } object: { magic, keys in
      try keys.map { try magic.object(of: Thing.self, primary: $0) }.reduce(0) { $0 &+ $1.bucket }
    },
    GrowthWork(name: "page of 50", calls: 100) { connection, keys in
      let things = try connection.things("WHERE id > ? ORDER BY id LIMIT 50", keys)
      return things.reduce(0) { $0 &+ $1.bucket }
    } object: { magic, keys in
      try keys.flatMap { (key: Int) throws -> [Thing] in
        try magic.objects(
          of: Thing.self, where: \.$id > key, orderedBy: [.ascending(\.$id)], limit: 50)
      }.reduce(0) { $0 &+ $1.bucket }
    },
    GrowthWork(name: "insert 100", calls: 10) { connection, keys in
      let statement = try unsafe connection.prepare(
        "INSERT INTO Thing (name, bucket, text) VALUES (?, ?, ?)")
      defer { unsafe sqlite3_finalize(statement) }
      for key in keys {
        try connection.execute("BEGIN IMMEDIATE")
        for _ in 0..<100 {
          try unsafe connection.bind("new", to: statement, 1)
          try connection.check(unsafe sqlite3_bind_int64(statement, 2, Int64(-key)))
          try unsafe connection.bind("a text", to: statement, 3)
          _ = try unsafe connection.step(statement)
          try connection.check(unsafe sqlite3_reset(statement))
        }
        try connection.execute("COMMIT")
      }
      return keys.count
    } object: { magic, keys in
      for key in keys {
        try magic.update((0..<100).map { _ in Thing(name: "new", bucket: -key, text: "a text") })
      }
      return keys.count
    },
    GrowthWork(name: "filter by index", calls: 100) { connection, keys in
      let things = try connection.things("WHERE bucket = ? ORDER BY id", keys.map { $0 / 10 })
      return things.reduce(0) { $0 &+ $1.id }
    } object: { magic, keys in
      try keys.flatMap { (key: Int) throws -> [Thing] in
        let bucket = key / 10
        return try magic.objects(of: Thing.self, where: \.$bucket == bucket)
      }.reduce(0) { $0 &+ $1.id }
    },
    GrowthWork(name: "relation", calls: 100) { connection, keys in
      var pieces: [PieceNode] = []
      for key in keys {
        pieces += try connection.pieces(
          "SELECT id, title, box FROM Piece WHERE id = ?", max(1, key / 10))
      }
      return pieces.reduce(0) { $0 &+ $1.box.id }
    } object: { magic, keys in
      try keys.map { try magic.object(of: Piece.self, primary: max(1, $0 / 10)) }
        .reduce(0) { $0 &+ $1.box.id }
    },
    GrowthWork(name: "reverse", calls: 100) { connection, keys in
      var pieces: [PieceNode] = []
      for key in keys {
        pieces += try connection.pieces(
          "SELECT id, title, box FROM Piece WHERE box = ? ORDER BY id", max(1, key / 100))
      }
      return pieces.reduce(0) { $0 &+ $1.id }
    } object: { magic, keys in
      try keys.flatMap { (key: Int) throws -> [Piece] in
        try magic.object(of: Box.self, primary: max(1, key / 100)).pieces.get()
      }.reduce(0) { $0 &+ $1.id }
    },
  ]
}

private struct ThingRow {
  let id: Int
  let name: String
  let bucket: Int
  let text: String
}

private final class BoxNode {
  let id: Int
  let name: String

  init(id: Int, name: String) {
    self.id = id
    self.name = name
  }
}

private final class PieceNode {
  let id: Int
  let title: String
  let box: BoxNode

  init(id: Int, title: String, box: BoxNode) {
    self.id = id
    self.title = title
    self.box = box
  }
}

extension CConnection {
  fileprivate func things(_ clause: String, _ keys: [Int]) throws -> [ThingRow] {
    try unsafe forEach(keys, "SELECT id, name, bucket, text FROM Thing \(clause)") { row in
      ThingRow(
        id: Int(unsafe sqlite3_column_int64(row, 0)), name: try unsafe text(row, 1),
        bucket: Int(unsafe sqlite3_column_int64(row, 2)), text: try unsafe text(row, 3))
    }
  }

  /// Fetches pieces and their boxes in one snapshot. Creates a single instance of each box.
  fileprivate func pieces(_ sql: String, _ key: Int) throws -> [PieceNode] {
    try execute("BEGIN")
    let rows = try unsafe forEach([key], sql) { row in
      (
        Int(unsafe sqlite3_column_int64(row, 0)), try unsafe text(row, 1),
        Int(unsafe sqlite3_column_int64(row, 2))
      )
    }
    let boxes = try unsafe forEach(
      Array(Set(rows.map(\.2))), "SELECT id, name FROM Box WHERE id = ?"
    ) { row in
      BoxNode(id: Int(unsafe sqlite3_column_int64(row, 0)), name: try unsafe text(row, 1))
    }
    try execute("COMMIT")
    return try rows.map { id, title, key in
      guard let box = boxes.first(where: { $0.id == key }) else { throw Failure("no box \(key)") }
      return PieceNode(id: id, title: title, box: box)
    }
  }

  @unsafe fileprivate func bind(
    _ text: String, to statement: OpaquePointer, _ index: Int32
  ) throws {
    var text = text
    try check(
      text.withUTF8 {
        unsafe csqlite_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
      })
  }
}
