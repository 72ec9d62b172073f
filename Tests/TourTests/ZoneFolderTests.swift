import Foundation
import Testing
import TestSupport
import Tour

@Suite struct ZoneFolderTests {
  let outer: TestFolder
  let path: String

  init() throws {
    outer = try TestFolder()
    path = outer.path + "/zone info%20é"
    try outer.write("TZif and more\0", to: "zone info%20é/Europe/Andorra")
    try outer.write("TZif, outside", to: "outside")
  }

  @Test func `a zone file is read byte for byte`() throws {
    #expect(try ZoneFolder(path: path).zoneFile("Europe/Andorra") == Data("TZif and more\0".utf8))
  }

  @Test func `a table is read with its path`() throws {
    try outer.write("AD\tAndorra", to: "zone info%20é/iso3166.tab")
    let file = try ZoneFolder(path: path).tabFile("iso3166.tab")
    #expect(file.path == path + "/iso3166.tab")
    #expect(try file.entries { $0 } == [["AD", "Andorra"]])
  }

  @Test(arguments: ["Andorra", "../Europe/Andorra"])
  func `a link inside the folder is followed`(target: String) throws {
    try outer.link("zone info%20é/Europe/Link", to: target)
    #expect(try ZoneFolder(path: path).zoneFile("Europe/Link") == Data("TZif and more\0".utf8))
  }

  @Test func `the folder itself can be a link`() throws {
    try outer.link("link", to: "zone info%20é")
    let folder = ZoneFolder(path: outer.path + "/link")
    #expect(try folder.zoneFile("Europe/Andorra") == Data("TZif and more\0".utf8))
  }

  @Test(arguments: ["../outside", "Europe/../../outside", "../nothing", ".."])
  func `a name that leaves the folder throws`(name: String) throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile(name)
    }
    #expect(error.description.hasSuffix("it is outside the folder of the database"))
  }

  @Test(arguments: ["../outside", "..", "../zone info%20é-sibling/file"])
  func `a link that leaves the folder throws`(target: String) throws {
    try outer.write("TZif, a sibling", to: "zone info%20é-sibling/file")
    try outer.link("zone info%20é/Link", to: target)
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Link")
    }
    #expect(error.description.hasSuffix("/Link: it is outside the folder of the database"))
  }

  @Test func `a linked folder that leaves the folder throws`() throws {
    try outer.link("zone info%20é/Link", to: "..")
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Link/outside")
    }
    #expect(error.description.hasSuffix("it is outside the folder of the database"))
  }

  @Test(arguments: ["", "TZi", "tzif and more", " TZif"])
  func `a file that doesn't begin with TZif throws`(text: String) throws {
    try outer.write(text, to: "zone info%20é/Bad")
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Bad")
    }
    #expect(error.description.hasSuffix("/Bad: not a TZif file: its first bytes are not \"TZif\""))
  }

  @Test func `the error of a missing file names the Debian package`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).tabFile("iso3166.tab")
    }
    #expect(error == .missing(path: path + "/iso3166.tab"))
    #expect(error.description.contains("apt-get install tzdata"))
  }

  @Test func `a dangling link throws`() throws {
    try outer.link("zone info%20é/Link", to: "Nothing")
    #expect(throws: ZoneDatabaseError.self) { try ZoneFolder(path: path).zoneFile("Link") }
  }

  @Test func `reading a folder as a file throws`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Europe")
    }
    #expect(error.description.hasSuffix("/Europe cannot be read: not a regular file"))
  }

  @Test func `a file in place of the folder throws an error with the system's message`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: outer.path + "/outside").tabFile("iso3166.tab")
    }
    #expect(error.description.hasSuffix("cannot be read: Not a directory"))
  }
}
