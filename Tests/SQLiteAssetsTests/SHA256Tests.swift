import CSHA256
import Testing
import TestSupport

@testable import SQLiteAssets

@Suite struct SHA256Tests {
  /// Examples from FIPS 180-4 and NIST.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `NIST's examples have the published digests`(text: String, digest: String) {
    #expect(SHA256.digest(of: Array(text.utf8)).description == digest)
  }

  @Test func `a million times "a", in pieces of uneven size, has NIST's digest`() {
    var hash = SHA256()
    var left = 1_000_000
    var size = 1
    while left > 0 {
      hash.update([UInt8](repeating: UInt8(ascii: "a"), count: min(size, left)))
      left -= size
      size = size % 997 + 89
    }
    let digest = hash.finalize()
    #expect(
      digest.description == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// Compares one digest over the digests of 0, 1, … up to 130 bytes with the result of
  /// `sha256sum`.
  @Test func `every length up to two blocks and two bytes has the right digest`() {
    var all = SHA256()
    for count in 0...130 {
      all.update(SHA256.digest(of: (0..<count).map { UInt8($0) }).bytes)
    }
    let digest = all.finalize()
    #expect(
      digest.description == "e5bbbecd60c3632a3455f465bfd8b079c30ef608d2bcc34227f4e5573029020e")
  }

  @Test(arguments: [1, 3, 63, 64, 65, 127, 128, 200])
  func `splitting the input doesn't change the digest`(size: Int) {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
    var hash = SHA256()
    for start in stride(from: 0, to: bytes.count, by: size) {
      hash.update(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    let digest = hash.finalize()
    #expect(digest == SHA256.digest(of: bytes))
  }

  @Test(.enabled("this processor has no SHA-256 instructions") { csha256_is_available() != 0 })
  func `the processor's instructions and Swift agree on random blocks`() {
    var generator = SplitMix64(seed: 256)
    for count in 0..<200 {
      let blocks = (0..<count % 9 * 64).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var fast = SHA256()
      var slow = SHA256()
      unsafe blocks.withUnsafeBytes { blocks in
        unsafe fast.compressByInstructions(blocks)
        unsafe slow.compressInSwift(blocks)
        unsafe fast.compressByInstructions(blocks)
        unsafe slow.compressInSwift(blocks)
      }
      #expect(fast.state == slow.state)
      #expect((fast.state == SHA256().state) == blocks.isEmpty)
    }
  }

  @Test func `a copy of a hash is independent of the original`() {
    var hash = SHA256()
    hash.update(Array("ab".utf8))
    var copy = hash
    copy.update(Array("x".utf8))
    hash.update(Array("c".utf8))
    let digest = hash.finalize()
    let other = copy.finalize()
    #expect(digest == SHA256.digest(of: Array("abc".utf8)))
    #expect(other == SHA256.digest(of: Array("abx".utf8)))
  }
}
