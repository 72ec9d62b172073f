import CSHA256
import ExactText

/// A SHA-256 hash function for a stream of bytes (FIPS 180-4).
///
///     var hash = SHA256()
///     hash.update([0x61, 0x62])
///     hash.update([0x63])
///     print(hash.finalize())  // ba7816bf…f20015ad
///
/// The store uses it to detect damaged files. Don't use it for passwords: it has no salt and is
/// fast to compute.
package struct SHA256: Sendable {
  var state = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
  /// The bytes of an incomplete block, at the start of the vector.
  private var waiting = SIMD64<UInt8>()
  private var count: UInt64 = 0

  /// Creates a hash function that has processed no bytes yet.
  package init() {}

  /// Adds bytes to the hash.
  ///
  /// - Parameter bytes: The bytes that follow those of earlier calls.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  package mutating func update(_ bytes: [UInt8]) {
    update(unsafe bytes.span.bytes)
  }

  /// Adds bytes to the hash without copying them.
  ///
  /// - Parameter bytes: The bytes that follow those of earlier calls.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  package mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// Returns the digest of all bytes that were added.
  package consuming func finalize() -> AssetDigest {
    let bits = count &<< 3
    let used = Int(count & 63)
    let zeros = (used < 56 ? 56 : 120) - used - 1
    update([0x80] + [UInt8](repeating: 0, count: zeros))
    update((0..<8).map { UInt8(truncatingIfNeeded: bits &>> (56 - 8 * $0)) })
    return AssetDigest(state)
  }

  /// Returns the digest of a single array of bytes.
  ///
  /// - Parameter bytes: The bytes to hash.
  /// - Returns: The digest.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  package static func digest(of bytes: [UInt8]) -> AssetDigest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }

  private mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var start = 0
    let used = Int(count & 63)
    count &+= UInt64(bytes.count)
    if used > 0 {
      start = min(64 - used, bytes.count)
      unsafe keep(UnsafeRawBufferPointer(rebasing: bytes[..<start]), at: used)
      guard used + start == 64 else { return }
      let block = waiting
      unsafe withUnsafeBytes(of: block) { unsafe compress($0) }
    }
    let end = bytes.count - (bytes.count - start) % 64
    if end > start {
      unsafe compress(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }
    unsafe keep(UnsafeRawBufferPointer(rebasing: bytes[end...]), at: 0)
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer, at index: Int) {
    unsafe withUnsafeMutableBytes(of: &waiting) { block in
      unsafe UnsafeMutableRawBufferPointer(rebasing: block[index...]).copyMemory(from: bytes)
    }
  }
}

/// The SHA-256 digest of an asset's content.
///
/// Its description consists of 64 lowercase hexadecimal digits, from which you can create the
/// digest again.
public struct AssetDigest: Hashable, Sendable {
  private let words: SIMD8<UInt32>

  fileprivate init(_ words: SIMD8<UInt32>) {
    self.words = words
  }

  /// Creates a digest from its 32 bytes. Returns nil for any other number of bytes.
  ///
  /// - Parameter bytes: The bytes of the digest, most significant first.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    var words = SIMD8<UInt32>()
    for (index, byte) in bytes.enumerated() {
      words[index / 4] = words[index / 4] &<< 8 | UInt32(byte)
    }
    self.words = words
  }

  /// The 32 bytes of the digest, most significant first.
  public var bytes: [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 4] &>> UInt32(24 - $0 % 4 * 8)) }
  }
}

extension AssetDigest: LosslessStringConvertible {
  /// Creates a digest from its description. Returns nil for any other text.
  ///
  /// - Parameter description: 64 lowercase hexadecimal digits.
  public init?(_ description: String) {
    guard description.utf8.count == 64 else { return nil }
    var words = SIMD8<UInt32>()
    var rest = Substring(description)
    for index in words.indices {
      guard let word = UInt32(hexadecimal: rest.prefix(8)) else { return nil }
      words[index] = word
      rest = rest.dropFirst(8)
    }
    self.words = words
  }

  /// The digest as 64 lowercase hexadecimal digits.
  public var description: String {
    words.indices.map { words[$0].hexadecimal }.joined()
  }
}

extension SHA256 {
  /// Updates the hash with whole blocks of 64 bytes. Uses the processor's SHA instructions if
  /// available, and otherwise Swift code, which takes five times as long.
  private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
    guard hasInstructions else { return unsafe compressInSwift(blocks) }
    unsafe compressByInstructions(blocks)
  }

  /// Updates the hash with whole blocks of 64 bytes, using the processor's SHA instructions.
  ///
  /// - Precondition: `csha256_is_available` returns a nonzero value.
  mutating func compressByInstructions(_ blocks: UnsafeRawBufferPointer) {
    unsafe roundConstants.withUnsafeBufferPointer { constants in
      unsafe withUnsafeMutableBytes(of: &state) { state in
        unsafe csha256_compress(
          state.baseAddress?.assumingMemoryBound(to: UInt32.self),
          blocks.baseAddress?.assumingMemoryBound(to: UInt8.self), blocks.count / 64,
          constants.baseAddress)
      }
    }
  }

  /// Updates the hash with whole blocks of 64 bytes, on any processor.
  ///
  /// This reaches 390 MiB/s. A fully unrolled version with a circular buffer of 16 words reaches
  /// 470 MiB/s. It isn't worth its length, because the processor's SHA instructions, which are used
  /// if available, are five times as fast as this code.
  mutating func compressInSwift(_ blocks: UnsafeRawBufferPointer) {
    unsafe roundConstants.withUnsafeBufferPointer { constants in
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
        for start in stride(from: 0, to: blocks.count, by: 64) {
          for index in 0..<16 {
            unsafe words[index] = UInt32(
              bigEndian: blocks.loadUnaligned(fromByteOffset: start &+ index &* 4, as: UInt32.self))
          }
          for index in 16..<64 {
            let near = unsafe words[index &- 15]
            let far = unsafe words[index &- 2]
            let nearMix = near.rotated(by: 7) ^ near.rotated(by: 18) ^ near &>> 3
            let farMix = far.rotated(by: 17) ^ far.rotated(by: 19) ^ far &>> 10
            unsafe words[index] = words[index &- 16] &+ nearMix &+ words[index &- 7] &+ farMix
          }
          unsafe mix(words, constants)
        }
      }
    }
  }

  private mutating func mix(
    _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    // Each round renames the variables instead of moving values. A loop over single rounds takes
    // twice as long.
    var i = 0
    while i < 64 {
      unsafe round(a, b, c, &d, e, f, g, &h, words[i] &+ constants[i])
      unsafe round(h, a, b, &c, d, e, f, &g, words[i &+ 1] &+ constants[i &+ 1])
      unsafe round(g, h, a, &b, c, d, e, &f, words[i &+ 2] &+ constants[i &+ 2])
      unsafe round(f, g, h, &a, b, c, d, &e, words[i &+ 3] &+ constants[i &+ 3])
      unsafe round(e, f, g, &h, a, b, c, &d, words[i &+ 4] &+ constants[i &+ 4])
      unsafe round(d, e, f, &g, h, a, b, &c, words[i &+ 5] &+ constants[i &+ 5])
      unsafe round(c, d, e, &f, g, h, a, &b, words[i &+ 6] &+ constants[i &+ 6])
      unsafe round(b, c, d, &e, f, g, h, &a, words[i &+ 7] &+ constants[i &+ 7])
      i &+= 8
    }
    state &+= SIMD8(a, b, c, d, e, f, g, h)
  }
}

@inline(__always)
private func round(
  _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
  _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ word: UInt32
) {
  let choice = g ^ (e & (f ^ g))
  let majority = (a & b) | (c & (a | b))
  let sum = h &+ (e.rotated(by: 6) ^ e.rotated(by: 11) ^ e.rotated(by: 25)) &+ choice &+ word
  d = d &+ sum
  h = sum &+ (a.rotated(by: 2) ^ a.rotated(by: 13) ^ a.rotated(by: 22)) &+ majority
}

extension UInt32 {
  @inline(__always)
  fileprivate func rotated(by bits: UInt32) -> UInt32 {
    self &>> bits | self &<< (32 &- bits)
  }
}

/// Whether the processor has SHA-256 instructions.
private let hasInstructions = csha256_is_available() != 0

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
private let roundConstants: [UInt32] = [
  0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
  0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
  0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
  0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
  0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
  0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
  0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
  0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
  0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
  0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
  0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
  0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
  0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
  0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
  0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
  0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]
