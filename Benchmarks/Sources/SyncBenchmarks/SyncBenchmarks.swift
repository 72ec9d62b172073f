import Foundation
import MagicData
import MagicSync

struct Note: MagicObject {
  @MagicValue var text: String
  @MagicValue var rank: Int

  init() {}

  init(_ rank: Int) {
    text = "This is the text of note \(rank)"
    self.rank = rank
  }
}

/// A program that measures what a sync costs: the size of the files, and the times of writing with
/// a sync, of applying the changes of another device, and of a new device.
///
///     swift run -c release SyncBenchmarks [changes-10000 | changes-100 | changes-1 | device | history]
@main
enum SyncBenchmarks {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/sync-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let chosen = CommandLine.arguments.dropFirst()
    func isChosen(_ name: String) -> Bool { chosen.isEmpty || chosen.contains(name) }
    for (count, size) in [(10_000, 1), (100, 100), (1, 10_000)] where isChosen("changes-\(count)") {
      try await measureChanges(count, of: size, in: "\(folder)/changes-\(count)")
    }
    if isChosen("device") { try await measureNewDevice("\(folder)/new") }
    if isChosen("history") { try await measureHistory("\(folder)/history") }
  }

  /// Measures transactions that change 10,000 objects in total.
  private static func measureChanges(_ count: Int, of size: Int, in folder: String) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let plain = try await MagicData(path: "\(folder)/plain")
    try await fill(plain, 10_000)
    let plainTime = try await time { try await change(plain, count, of: size) }

    let (a, first) = try await device("a", folder)
    let (b, second) = try await device("b", folder)
    try await settle([first, second])
    try await fill(a, 10_000)
    try await settle([first, second])
    let sizeBefore = try bytes("\(folder)/shared")
    let syncedTime = try await time { try await change(a, count, of: size) }
    let sending = try await time { try await first.once() }
    let sizeAfter = try bytes("\(folder)/shared")
    let applying = try await time { try await second.once() }
    guard
      try await a.objects(of: Note.self, orderedBy: [.ascending(\.$rank)]).map(\.text)
        == b.objects(of: Note.self, orderedBy: [.ascending(\.$rank)]).map(\.text)
    else { fatalError("the stores differ") }
    func ratio(_ time: Duration) -> String {
      "\(milliseconds(time)) (\(String(format: "%.2f", time / plainTime)) ×)"
    }
    print(
      """
      \(count) transactions of \(size) changed objects: plain \(milliseconds(plainTime)), \
      with a sync \(ratio(syncedTime)), sent in \(ratio(sending)), applied in \(ratio(applying)); \
      \((sizeAfter - sizeBefore) / 10_000) bytes per changed row
      """)
  }

  /// Measures the start of a device with the snapshot of a store of 100,000 objects.
  private static func measureNewDevice(_ folder: String) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let plain = try await MagicData(path: "\(folder)/plain")
    let plainTime = try await time { try await fill(plain, 100_000) }
    let a = try await MagicData(path: "\(folder)/a")
    try await fill(a, 100_000)
    let first = try await Sync(a, through: .folder("\(folder)/shared"), objects: [Note.self])
    let sending = try await time { try await first.once() }
    let (b, second) = try await device("b", folder)
    let before = peakMemory()
    let start = try await time { try await second.once() }
    let count = try await b.count(of: Note.self)
    guard count == 100_000 else { fatalError("the new device has \(count) objects") }
    print(
      """
      100,000 objects: inserted in \(milliseconds(plainTime)); snapshot written in \
      \(milliseconds(sending)), \(try bytes("\(folder)/shared") / 1_000) kB; a new device began with \
      it in \(milliseconds(start)); peak memory before \(before) kB, after \(peakMemory()) kB
      """)
  }

  /// Measures what stays behind after many exchanges.
  private static func measureHistory(_ folder: String) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let (a, first) = try await device("a", folder)
    let (b, second) = try await device("b", folder)
    try await settle([first, second])
    try await fill(a, 100)
    for round in 1...3_000 {
      let (magic, sync) = round % 2 == 0 ? (a, first) : (b, second)
      try await sync.once()
      if let note = try await magic.fetch(Note.where(\.$rank == round % 100).first) {
        note.text = "round \(round)"
        try await magic.update(note)
      }
      try await sync.once()
      guard round % 1_000 == 0 else { continue }
      let log = try await a.database.read { connection in
        try connection.firstRow("SELECT count(*) FROM magicdata_sync_log", as: Int.self) ?? 0
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/shared").count
      print(
        "after \(round) exchanges: \(log) entries in the log, \(files) files, peak memory \(peakMemory()) kB"
      )
    }
  }

  private static func device(_ name: String, _ folder: String) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(folder)/\(name)")
    let sync = try await Sync(magic, through: .folder("\(folder)/shared"), objects: [Note.self])
    return (magic, sync)
  }

  private static func fill(_ magic: MagicData, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      try await magic.update((start..<min(start + 10_000, count)).map { Note($0) })
    }
  }

  private static func change(_ magic: MagicData, _ count: Int, of size: Int) async throws {
    let notes = try await magic.objects(of: Note.self, orderedBy: [.ascending(\.$rank)])
    for number in 0..<count {
      let changed = notes[number * size..<(number + 1) * size]
      for note in changed { note.text = "Changed in transaction \(number)" }
      try await magic.update(Array(changed))
    }
  }

  private static func settle(_ syncs: [Sync]) async throws {
    for _ in 0..<6 { for sync in syncs { try await sync.once() } }
  }

  private static func bytes(_ folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      return sum + (attributes[.size] as? Int ?? 0)
    }
  }

  private static func time(_ body: () async throws -> Void) async throws -> Duration {
    let start = ContinuousClock.now
    try await body()
    return .now - start
  }

  private static func milliseconds(_ time: Duration) -> String {
    String(format: "%.0f ms", time / .milliseconds(1))
  }

  /// The greatest memory of the process in kB.
  private static func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
