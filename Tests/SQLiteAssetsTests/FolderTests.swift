import Foundation
import SQLiteAssets
import SystemFiles
import Testing
import TestSupport

@Suite struct FolderTests {
  let temporary: TestFolder
  let folder: Folder

  init() throws {
    temporary = try TestFolder()
    folder = try Folder.open(path: "\(temporary.path)/store", SystemFileOperations())
  }

  @Test func `files are created with mode 0600 and folders with 0700, whatever the umask`() throws {
    let before = umask(0)
    defer { umask(before) }
    let other = try Folder.open(path: "\(temporary.path)/other", SystemFileOperations())
    _ = try other.makeFolder("inner").makeFile("file")
    #expect(try temporary.permissions("other") == 0o700)
    #expect(try temporary.permissions("other/inner") == 0o700)
    #expect(try temporary.permissions("other/inner/file") == 0o600)
  }

  @Test func `creating a file never overwrites a file or follows a link`() throws {
    _ = try folder.makeFile("file")
    try temporary.link("store/link", to: "\(temporary.path)/target")
    for name in ["file", "link"] {
      let error = #expect(throws: AssetError.self) { try folder.makeFile(name) }
      #expect(
        error == .system(call: "openat", path: "\(folder.path)/\(name)", number: EEXIST))
    }
    #expect(temporary.files() == ["store/file", "store/link"])
  }

  @Test(.timeLimit(.minutes(40)))
  func `only regular files are opened, and a FIFO doesn't block`() throws {
    try temporary.write("secret", to: "target")
    try temporary.link("store/link", to: "\(temporary.path)/target")
    try temporary.makeFIFO("store/fifo")
    _ = try folder.makeFolder("folder")
    for name in ["link", "fifo", "folder"] {
      #expect(throws: AssetError.notRegularFile(path: "\(folder.path)/\(name)")) {
        try folder.file(name)
      }
    }
    #expect(try folder.file("nothing") == nil)
  }

  @Test func `a link to a folder isn't followed`() throws {
    try temporary.link("store/link", to: temporary.path)
    #expect(throws: AssetError.self) { try folder.folder("link") }
    #expect(throws: AssetError.self) { try folder.makeFolder("link") }
    #expect(throws: AssetError.self) {
      try Folder.open(path: "\(temporary.path)/store/link///", SystemFileOperations())
    }
  }

  @Test(arguments: ["a/b", "../x", "/etc/passwd", "a\0b"])
  func `a name with more than one component throws`(name: String) throws {
    #expect(throws: AssetError.invalidPath(name)) { try folder.makeFile(name) }
    #expect(throws: AssetError.invalidPath(name)) { try folder.file(name) }
    #expect(throws: AssetError.invalidPath(name)) { try folder.remove(name) }
    #expect(throws: AssetError.invalidPath(name)) { try folder.move(name, to: folder) }
    #expect(throws: AssetError.invalidPath(name)) { try folder.makeFolder(name) }
  }

  @Test(arguments: ["", "\0", "/tmp/a\0b"])
  func `a path that is empty or contains a zero byte throws`(path: String) {
    #expect(throws: AssetError.invalidPath(path)) {
      try Folder.open(path: path, SystemFileOperations())
    }
  }

  @Test func `a relative path becomes absolute`() throws {
    let relative = try Folder.open(path: ".", SystemFileOperations())
    #expect(relative.path == FileManager.default.currentDirectoryPath + "/.")
  }

  @Test func `the list of names excludes the folder itself and names that aren't UTF-8`() throws {
    _ = try folder.makeFile("b")
    _ = try folder.makeFolder("a")
    try temporary.makeFileWithInvalidName(in: "store")
    #expect(try folder.names().sorted() == ["a", "b"])
    #expect(try folder.names().count == 2)
  }

  @Test func `remove returns whether the file existed`() throws {
    _ = try folder.makeFile("file")
    #expect(try folder.remove("file"))
    #expect(try folder.remove("file") == false)
  }

  @Test func `only an empty folder is removed`() throws {
    _ = try folder.makeFolder("inner").makeFile("file")
    #expect(try folder.removeFolder("inner") == false)
    #expect(temporary.files() == ["store/inner/file"])
    try folder.folder("inner")?.remove("file")
    #expect(try folder.removeFolder("inner"))
    #expect(try folder.folder("inner") == nil)
  }

  @Test func `only one folder instance can hold a lock, until it is released`() throws {
    var first: Folder? = try folder.makeFolder("inner")
    let second = try folder.makeFolder("inner")
    #expect(try first?.lock(waiting: false) == true)
    #expect(try second.lock(waiting: false) == false)
    first = nil
    #expect(try second.lock(waiting: false))
  }
}
