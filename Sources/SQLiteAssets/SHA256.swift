/// The SHA-256 hash of a stream of bytes (FIPS 180-4).
///
///     var hash = SHA256()
///     hash.update([0x61, 0x62])
///     hash.update([0x63])
///     print(hash.finalize())  // ba7816bf…f20015ad
///
/// It exists to find damage in files. It is a value: a copy goes on alone. It takes no key and does
/// not hide timing, so it is not made for passwords.
public struct SHA256: Sendable {
  var state = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
  /// The bytes that wait for a whole block, at its beginning.
  private var waiting = SIMD64<UInt8>()
  private var count: UInt64 = 0

  /// Makes a hash of no bytes yet.
  public init() {}

  /// Takes in more bytes.
  ///
  /// - Parameter bytes: What follows the bytes of earlier calls.
  /// - Complexity: O(*n*).
  public mutating func update(_ bytes: [UInt8]) {
    update(unsafe bytes.span.bytes)
  }

  /// Takes in more bytes, without copying them.
  ///
  /// - Parameter bytes: What follows the bytes of earlier calls.
  /// - Complexity: O(*n*).
  public mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// Returns the digest of all the bytes taken in.
  public consuming func finalize() -> Digest {
    let bits = count &<< 3
    let used = Int(count & 63)
    let zeros = (used < 56 ? 56 : 120) - used - 1
    update([0x80] + [UInt8](repeating: 0, count: zeros))
    update((0..<8).map { UInt8(truncatingIfNeeded: bits &>> (56 - 8 * $0)) })
    return Digest(state)
  }

  /// Returns the digest of `bytes`.
  ///
  /// - Parameter bytes: All the bytes.
  /// - Returns: The digest.
  /// - Complexity: O(*n*).
  public static func digest(of bytes: [UInt8]) -> Digest {
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
