import SQLiteAssets
import Testing

@Suite struct DigestTests {
  let digest = SHA256.digest(of: Array("abc".utf8))

  @Test func `a digest survives a round trip through its bytes and its description`() {
    #expect(digest.bytes.count == 32)
    #expect(AssetDigest(bytes: digest.bytes) == digest)
    #expect(AssetDigest(digest.description) == digest)
  }

  @Test(arguments: [0, 31, 33])
  func `any number of bytes other than 32 is rejected`(count: Int) {
    #expect(AssetDigest(bytes: [UInt8](repeating: 0, count: count)) == nil)
  }

  @Test(arguments: [
    "", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
    String(repeating: "A", count: 64), String(repeating: "g", count: 64),
    "+" + String(repeating: "0", count: 63), String(repeating: "é", count: 32),
  ])
  func `any text but 64 lowercase hexadecimal digits is rejected`(text: String) {
    #expect(AssetDigest(text) == nil)
  }

  @Test func `changing one bit changes the digest`() {
    #expect(SHA256.digest(of: Array("abb".utf8)) != digest)
    #expect(Set([digest, SHA256.digest(of: Array("abc".utf8))]).count == 1)
  }
}
