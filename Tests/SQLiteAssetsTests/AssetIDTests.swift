import Foundation
import SQLiteAssets
import SQLiteCore
import Testing

@Suite struct AssetIDTests {
  @Test func `ids differ and survive their description`() {
    let ids = (0..<1_000).map { _ in AssetID() }
    #expect(Set(ids).count == 1_000)
    #expect(ids.allSatisfy { AssetID($0.description) == $0 && $0.description.utf8.count == 32 })
  }

  @Test func `leading zeros are kept`() throws {
    let text = "00000000000000000000000000000a1f"
    #expect(try #require(AssetID(text)).description == text)
  }

  @Test func `an id survives JSON and a column, as its description`() throws {
    let id = AssetID()
    let json = try JSONEncoder().encode([id])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(id)\"]")
    #expect(try JSONDecoder().decode([AssetID].self, from: json) == [id])
    let row = try Database.memory().rows("SELECT \(id)", as: AssetID.self).first
    #expect(row == id)
  }

  @Test func `a text that is no id is refused by JSON and by a column`() throws {
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
  func `no other text is an id`(text: String) {
    #expect(AssetID(text) == nil)
  }
}
