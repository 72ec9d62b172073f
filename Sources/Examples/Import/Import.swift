import Foundation
import MagicData

/// A temperature that a station measured: a line of the imported file, and a row of the table.
struct Reading: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("station", "takenAt")]

  var id: Int?
  var station: String
  var takenAt: Date
  var celsius: Double

  /// Parses a line in the form "station,seconds since 1970,degrees Celsius".
  init(line: Substring) throws(InvalidLine) {
    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count == 3 else { throw .fields }
    guard !fields[0].isEmpty else { throw .station }
    guard let seconds = Int64(fields[1]) else { throw .time }
    guard let celsius = Double(fields[2]), celsius.isFinite else { throw .temperature }
    self.station = String(fields[0])
    self.takenAt = Date(timeIntervalSince1970: TimeInterval(seconds))
    self.celsius = celsius
  }
}

/// The reason why a line is invalid.
enum InvalidLine: String, Error {
  case fields = "wrong number of fields"
  case station = "empty station"
  case time = "time is not a number"
  case temperature = "temperature is not a number"
}

/// A reader for the lines of a file. It reads chunks and doesn't load the whole file.
struct LineReader {
  private let file: FileHandle
  private var piece = Data()[...]

  init(of path: String) throws {
    file = try FileHandle(forReadingFrom: URL(filePath: path))
  }

  /// Returns the next line without its line feed, or nil at the end of the file.
  mutating func next() throws -> Substring? {
    var end = piece.firstIndex(of: UInt8(ascii: "\n"))
    while end == nil, let more = try file.read(upToCount: 1 << 18), !more.isEmpty {
      // A line can continue in the next chunk.
      piece = Data(piece) + more
      end = piece.firstIndex(of: UInt8(ascii: "\n"))
    }
    guard end != nil || !piece.isEmpty else { return nil }
    let line = piece[..<(end ?? piece.endIndex)]
    piece = piece[(end.map { $0 + 1 } ?? piece.endIndex)...]
    return Substring(decoding: line, as: UTF8.self)
  }
}

/// A program that imports a file of comma-separated values into a table. If you don't specify a
/// file, the program generates one that contains some invalid lines.
@main struct Import {
  static func main() async throws {
    var words = Array(CommandLine.arguments.dropFirst())
    var rows = 1_000_000
    if let index = words.firstIndex(of: "--rows") {
      guard let word = words.dropFirst(index + 1).first, let number = Int(word), number >= 0 else {
        exitWithUsage()
      }
      rows = number
      words.removeSubrange(index...index + 1)
    }
    guard words.count <= 2, !words.contains(where: { $0.hasPrefix("-") }) else { exitWithUsage() }
    let own = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv").path
    let path = words.first ?? own
    if words.isEmpty { try write(rows, to: own) }
    defer { try? FileManager.default.removeItem(atPath: own) }
    let database = try words.count > 1 ? Database(path: words[1]) : Database.temporary()

    // Control-C cancels the task. Committed batches remain; the current one is rolled back.
    signal(SIGINT, SIG_IGN)
    let task = Task { try await load(path, into: database) }
    let interruption = DispatchSource.makeSignalSource(signal: SIGINT)
    interruption.setEventHandler { task.cancel() }
    interruption.resume()
    let began = ContinuousClock.now
    let result = await task.result
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    let count = try await database.readBriefly { try $0.count(of: Reading.self) }
    print("\(count) readings in \((seconds * 10).rounded() / 10) s")
    switch result {
    case .success(let rejected):
      for (reason, lines) in rejected.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        print("rejected \(lines.count) lines: \(reason.rawValue), first in line \(lines[0])")
      }
    case .failure(let error):
      print(error is CancellationError ? "stopped" : "\(error)")
      exit(1)
    }
  }

  private static func exitWithUsage() -> Never {
    FileHandle.standardError.write(Data("Usage: Import [--rows N] [FILE [DATABASE]]\n".utf8))
    exit(2)
  }

  /// Inserts the lines of a file in batches.
  ///
  /// - Returns: The numbers of the invalid lines, by reason.
  private static func load(
    _ path: String, into database: Database
  ) async throws -> [InvalidLine: [Int]] {
    var rejected: [InvalidLine: [Int]] = [:]
    var batch: [Reading] = []
    var stored = 0
    func store() async throws {
      stored += try await database.write { [batch] in try $0.insert(contentsOf: batch) }
      batch.removeAll(keepingCapacity: true)
      if isatty(2) != 0 { FileHandle.standardError.write(Data("\r\(stored) rows".utf8)) }
    }
    defer { if isatty(2) != 0 { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) } }
    var lines = try LineReader(of: path)
    var number = 0
    while let line = try lines.next() {
      number += 1
      do {
        batch.append(try Reading(line: line))
      } catch {
        rejected[error, default: []].append(number)
      }
      if batch.count == 20_000 { try await store() }
    }
    try await store()
    return rejected
  }

  /// Generates a file with `rows` lines. One in 50,000 is invalid.
  private static func write(_ rows: Int, to path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    for start in stride(from: 0, to: rows, by: 10_000) {
      let lines = (start..<min(start + 10_000, rows)).map { row in
        let wrong = ["nowhere", ",0,0", "A,soon,1", "A,0,mild"]
        if row % 50_000 == 49_999 { return wrong[row / 50_000 % 4] }
        return "station \(row % 500),\(1_700_000_000 + row * 60),\(Double(row % 400) / 10 - 10)"
      }
      try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
    try file.close()
  }
}
