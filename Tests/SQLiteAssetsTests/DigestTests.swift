import SQLiteAssets
import Testing

@Suite struct DigestTests {
  let digest = SHA256.digest(of: Array("abc".utf8))

  @Test func `a digest survives its bytes and its description`() {
    #expect(digest.bytes.count == 32)
    #expect(SHA256.Digest(bytes: digest.bytes) == digest)
    #expect(SHA256.Digest(digest.description) == digest)
  }

  @Test(arguments: [0, 31, 33])
  func `any number of bytes but 32 is refused`(count: Int) {
    #expect(SHA256.Digest(bytes: [UInt8](repeating: 0, count: count)) == nil)
  }

  @Test(arguments: [
    "", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
    String(repeating: "A", count: 64), String(repeating: "g", count: 64),
    "+" + String(repeating: "0", count: 63), String(repeating: "é", count: 32),
  ])
  func `any text but 64 lower-case hexadecimal digits is refused`(text: String) {
    #expect(SHA256.Digest(text) == nil)
  }

  @Test func `one changed bit makes another digest`() {
    #expect(SHA256.digest(of: Array("abb".utf8)) != digest)
    #expect(Set([digest, SHA256.digest(of: Array("abc".utf8))]).count == 1)
  }
}
