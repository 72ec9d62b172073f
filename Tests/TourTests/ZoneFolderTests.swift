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

  @Test func `the folder may itself be a link`() throws {
    try outer.link("link", to: "zone info%20é")
    let folder = ZoneFolder(path: outer.path + "/link")
    #expect(try folder.zoneFile("Europe/Andorra") == Data("TZif and more\0".utf8))
  }

  @Test(arguments: ["../outside", "Europe/../../outside", "../nothing", ".."])
  func `no name leads out of the folder`(name: String) throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile(name)
    }
    #expect(error.description.hasSuffix("leads out of the folder of the database"))
  }

  @Test(arguments: ["../outside", "..", "../zone info%20é-sibling/file"])
  func `no link leads out of the folder`(target: String) throws {
    try outer.write("TZif, a sibling", to: "zone info%20é-sibling/file")
    try outer.link("zone info%20é/Link", to: target)
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Link")
    }
    #expect(error.description.hasSuffix("/Link: leads out of the folder of the database"))
  }

  @Test func `no linked folder leads out of the folder`() throws {
    try outer.link("zone info%20é/Link", to: "..")
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Link/outside")
    }
    #expect(error.description.hasSuffix("leads out of the folder of the database"))
  }

  @Test(arguments: ["", "TZi", "tzif and more", " TZif"])
  func `a file that does not begin with TZif is refused`(text: String) throws {
    try outer.write(text, to: "zone info%20é/Bad")
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Bad")
    }
    #expect(error.description.hasSuffix("/Bad: not a TZif file, its first bytes are not \"TZif\""))
  }

  @Test func `a missing file names the Debian package`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).tabFile("iso3166.tab")
    }
    #expect(error == .missing(path: path + "/iso3166.tab"))
    #expect(error.description.contains("apt-get install tzdata"))
  }

  @Test func `a link to nothing is refused`() throws {
    try outer.link("zone info%20é/Link", to: "Nothing")
    #expect(throws: ZoneDatabaseError.self) { try ZoneFolder(path: path).zoneFile("Link") }
  }

  @Test func `a folder is not read as a file`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: path).zoneFile("Europe")
    }
    #expect(error.description.hasSuffix("/Europe cannot be read: not a regular file"))
  }

  @Test func `a file in the folder's place is told in the system's words`() throws {
    let error = try #require(throws: ZoneDatabaseError.self) {
      try ZoneFolder(path: outer.path + "/outside").tabFile("iso3166.tab")
    }
    #expect(error.description.hasSuffix("cannot be read: Not a directory"))
  }
}
