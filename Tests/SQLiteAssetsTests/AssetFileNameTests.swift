import SQLiteAssets
import Testing

@Suite struct AssetFileNameTests {
  static let random = String(repeating: "0f", count: 16)

  @Test(arguments: ["png", "tar.gz", "7z", "c++", "x-y_z", String(repeating: "a", count: 64)])
  func `a plain extension is kept`(fileExtension: String) throws {
    let name = try AssetFileName(extension: fileExtension)
    #expect(name.text.hasSuffix("." + fileExtension))
    #expect(name.fileExtension == fileExtension)
    #expect(AssetFileName(name.text) == name)
  }

  @Test(arguments: [nil, ""])
  func `a name without extension is 32 hexadecimal digits`(fileExtension: String?) throws {
    let name = try AssetFileName(extension: fileExtension)
    #expect(name.text.utf8.count == 32)
    #expect(name.fileExtension == nil)
    #expect(AssetFileName(name.text) == name)
  }

  @Test func `a thousand generated names are distinct`() throws {
    var names: Set<AssetFileName> = []
    for _ in 0..<1_000 { names.insert(try AssetFileName(extension: "txt")) }
    #expect(names.count == 1_000)
  }

  @Test(arguments: hostileExtensions)
  func `a hostile extension throws an error that contains it`(fileExtension: String) {
    #expect(throws: AssetError.invalidExtension(fileExtension)) {
      try AssetFileName(extension: fileExtension)
    }
    #expect(AssetFileName("\(AssetFileNameTests.random).\(fileExtension)") == nil)
  }

  @Test(arguments: hostileNames)
  func `a hostile name isn't a valid file name`(name: String) {
    #expect(AssetFileName(name) == nil)
  }
}

/// Extensions that could escape the folder, hide the file, or have a special meaning on another
/// system or in a shell.
let hostileExtensions = [
  "/", "../x", "..", ".", ".png", "png.", "a..b", "a/b", "/etc/passwd", "a\\b", "\0", "png\0",
  "png\0.txt", " ", "a b", "png ", "\n", "a\tb", "é", "e\u{301}", "ｐｎｇ", "p\u{200b}ng",
  "\u{202e}gnp", "%2e%2e", "a%00", "a:b", "a*", "a?", "~", "$(id)", "`id`", "a;b", "a'b", "a\"b",
  "<", "|", "&", "\u{7f}", "\u{1b}[2J", String(repeating: "a", count: 65),
  String(repeating: "a", count: 5_000), "中",
]

/// Strings in a row's file column that aren't valid file names.
let hostileNames = [
  "", ".", "..", "/", "../x", "../../etc/passwd", "/etc/passwd", "lock", "store", "pending",
  "files",
  "default.sqlite3", String(repeating: "0", count: 31), String(repeating: "0", count: 33),
  String(repeating: "0F", count: 16), String(repeating: "0f", count: 16) + ".",
  String(repeating: "0f", count: 16) + "/x", String(repeating: "0f", count: 16) + "\0",
  "../" + String(repeating: "0f", count: 16), String(repeating: "0f", count: 16) + "png",
  String(repeating: "é", count: 16), "+" + String(repeating: "0", count: 31), "C:\\x", "~/x",
]
