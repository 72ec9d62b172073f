import Foundation
import MagicData
import MagicDataTool
import Terminal
import TestSupport

struct Person: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var photo: MagicAsset<String> = MagicAsset()

  init() {}

  init(_ name: String, photo: String) {
    self.name = name
    self.photo = MagicAsset(value: photo, pathExtension: "txt")
  }
}

/// A store of three people with one file each, for running the tool on it.
struct ToolFixture {
  let folder: TestFolder
  var store: String { folder.path + "/store" }
  var files: String { store + "/assets/files" }

  init() throws {
    folder = try TestFolder()
    let magic = try MagicData(path: store)
    try magic.update([
      Person("Ada", photo: "1"), Person("Bob", photo: "22"),
      Person("Cleo \u{1B}[31m漢字", photo: "333"),
    ])
    try magic.database.close()
  }

  struct Result {
    var status: Int32
    var output = ""
    var errors = ""
  }

  /// Runs the tool in this process.
  func run(
    _ words: String..., isTerminal: Bool = false, columns: Int? = nil,
    interruption: Interruption = Interruption()
  ) -> Result {
    run(words: words, isTerminal: isTerminal, columns: columns, interruption: interruption)
  }

  func run(
    words: [String], isTerminal: Bool = false, columns: Int? = nil,
    interruption: Interruption = Interruption()
  ) -> Result {
    let (output, errors) = (CapturedText(), CapturedText())
    let status = Tool.run(
      words, output: Output(isTerminal: isTerminal, columns: columns) { output.text += $0 },
      errors: Output(isTerminal: isTerminal) { errors.text += $0 }, interruption: interruption)
    return Result(status: status, output: output.text, errors: errors.text)
  }

  private final class CapturedText {
    var text = ""
  }

  /// Opens the store's database for reading and writing.
  func database() throws -> Database { try Database(path: store + "/default.sqlite3") }

  func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }
}
