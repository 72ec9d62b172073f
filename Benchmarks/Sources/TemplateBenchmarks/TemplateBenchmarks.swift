import Foundation
import MagicData
import MagicTemplates

struct Note: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  @MagicValue var rank: Int
  @OptionalMagicValue var file: MagicAsset<Data>?

  init() {}

  init(_ rank: Int, _ content: Data? = nil) {
    text = "note \(rank)"
    self.rank = rank
    file = content.map { MagicAsset(value: $0) }
  }
}

/// A program that measures how long it takes to copy templates, compared with new stores. Prints
/// the fastest time and the median of 200 runs, or of 20 runs with 1,000 assets.
///
///     swift run -c release TemplateBenchmarks
@main
enum TemplateBenchmarks {
  static func main() throws {
    let content = Data(repeating: 1, count: 10_000)
    let templates = [
      ("1 object", StoreTemplate { try $0.update(Note(1)) }),
      ("1,000 objects", StoreTemplate { try $0.update((0..<1_000).map { Note($0) }) }),
      ("20 assets", StoreTemplate { try $0.update((0..<20).map { Note($0, content) }) }),
    ]
    let folder = FileManager.default.temporaryDirectory.path + "/templates-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, template) in templates {
      // Fills the template.
      try MagicData(copying: template).close()
      try measure("\(name), in memory") { _ in try MagicData(copying: template) }
      try measure("\(name), in a temporary folder") { _ in
        try MagicData(copying: template, type: .temporary)
      }
      try measure("\(name), at a path") { number in
        try MagicData(copying: template, at: "\(folder)/\(name)-\(number)")
      }
      try measure("\(name), in memory, saved and fetched") { _ in
        try used(MagicData(copying: template))
      }
    }
    let large = StoreTemplate { try $0.update((0..<1_000).map { Note($0, content) }) }
    try MagicData(copying: large).close()
    try measure("1,000 assets, in memory", runs: 20) { _ in try MagicData(copying: large) }
    try measure("1,000 assets, in memory, first asset read", runs: 20) { _ in
      let magic = try MagicData(copying: large)
      _ = try magic.fetch(Note.where(\.$rank == 2)).first?.file?.get()
      return magic
    }
    try measure("1,000 assets, at a path", runs: 20) { number in
      try MagicData(copying: large, at: "\(folder)/large-\(number)")
    }
    let rows = StoreTemplate(minimumFileSize: content.count + 1) {
      try $0.update((0..<1_000).map { Note($0, content) })
    }
    try MagicData(copying: rows).close()
    try measure("1,000 assets in rows, at a path", runs: 20) { number in
      try MagicData(copying: rows, at: "\(folder)/rows-\(number)")
    }
    try measure("a new store, in memory") { _ in try MagicData(type: .memory) }
    try measure("a new store, in memory, saved and fetched") { _ in
      try used(MagicData(type: .memory))
    }
    try measure("a new store, in a temporary folder, saved and fetched") { _ in
      try used(MagicData(type: .temporary))
    }
  }

  private static func used(_ magic: MagicData) throws -> MagicData {
    try magic.update(Note(2))
    _ = try magic.fetch(Note.where(\.$rank == 2))
    return magic
  }

  private static func measure(
    _ name: String, runs: Int = 200, _ make: (Int) throws -> MagicData
  ) throws {
    var times: [Duration] = []
    for number in 0..<runs {
      let start = ContinuousClock.now
      let magic = try make(number)
      times.append(ContinuousClock.now - start)
      try magic.close()
    }
    times.sort()
    print("\(name): \(text(times[0])), median \(text(times[times.count / 2]))")
  }

  private static func text(_ duration: Duration) -> String {
    duration.formatted(.units(allowed: [.microseconds], width: .narrow))
  }
}
