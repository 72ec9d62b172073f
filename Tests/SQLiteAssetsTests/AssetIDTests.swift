import Foundation
import SQLiteAssets
import SQLiteCore
import Testing

@Suite struct AssetIDTests {
  @Test func `ids are unique and survive a round trip through their description`() {
    let ids = (0..<1_000).map { _ in AssetID() }
    #expect(Set(ids).count == 1_000)
    #expect(ids.allSatisfy { AssetID($0.description) == $0 && $0.description.utf8.count == 32 })
  }

  @Test func `leading zeros are preserved`() throws {
    let text = "00000000000000000000000000000a1f"
    #expect(try #require(AssetID(text)).description == text)
  }

  @Test func `an id survives JSON and a database column, stored as its description`() throws {
    let id = AssetID()
    let json = try JSONEncoder().encode([id])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(id)\"]")
    #expect(try JSONDecoder().decode([AssetID].self, from: json) == [id])
    let row = try Database.memory().rows("SELECT \(id)", as: AssetID.self).first
    #expect(row == id)
  }

  @Test func `JSON decoding and column reading throw for text that isn't an id`() throws {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([AssetID].self, from: Data("[\"x\"]".utf8))
    }
    #expect(throws: SQLiteError.self) {
      try Database.memory().rows("SELECT 'x'", as: AssetID.self).first
    }
  }

  @Test(arguments: [
    "", "0", "../../etc/passwd", "0000000000000000000000000000A1F0",
    "0000000000000000000000000000a1f", "0000000000000000000000000000a1f00",
    "-000000000000000000000000000a1f0", "+000000000000000000000000000a1f0",
    "0000000000000000000000000000a1f\0", "０000000000000000000000000000a1f",
  ])
  func `text that isn't 32 lowercase hexadecimal digits isn't an id`(text: String) {
    #expect(AssetID(text) == nil)
  }
}
