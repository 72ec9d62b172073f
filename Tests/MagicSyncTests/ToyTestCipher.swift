import Foundation
import MagicSync
import SQLiteAssets

/// A cipher for tests only. It isn't secure: the key stream repeats for equal nonces, and the nonce
/// is a counter of nothing. It has what ``SyncCipher`` requires: the content is unreadable without
/// the key, and a tag covers the content and the name.
struct ToyTestCipher: SyncCipher {
  struct WrongTag: Error {}

  let key: String

  func seal(_ content: Data, authenticating name: Data) throws -> Data {
    let nonce = [UInt8]("\(UInt64.random(in: 0 ... .max))".utf8).prefix(8)
    let hidden = mixed([UInt8](content), Array(nonce))
    return Data(nonce) + Data(hidden) + Data(tag(Array(nonce) + hidden, name))
  }

  func open(_ sealed: Data, authenticating name: Data) throws -> Data {
    let bytes = [UInt8](sealed)
    guard bytes.count >= 40 else { throw WrongTag() }
    let covered = Array(bytes.dropLast(32))
    guard tag(covered, name) == Array(bytes.suffix(32)) else { throw WrongTag() }
    return Data(mixed(Array(covered.dropFirst(8)), Array(covered.prefix(8))))
  }

  /// XORs bytes with SHA-256 of the key, the nonce and the number of the block.
  private func mixed(_ bytes: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
    var mixed: [UInt8] = []
    mixed.reserveCapacity(bytes.count)
    for (number, start) in stride(from: 0, to: bytes.count, by: 32).enumerated() {
      let stream = digest([UInt8](key.utf8), nonce, [UInt8]("\(number)".utf8))
      mixed += zip(bytes[start..<min(start + 32, bytes.count)], stream).map { $0 ^ $1 }
    }
    return mixed
  }

  private func tag(_ bytes: [UInt8], _ name: Data) -> [UInt8] {
    digest([UInt8]("tag \(key)".utf8), [UInt8](name), bytes)
  }

  private func digest(_ parts: [UInt8]...) -> [UInt8] {
    var hash = SHA256()
    for part in parts {
      hash.update([UInt8]("\(part.count) ".utf8))
      hash.update(part)
    }
    return hash.finalize().bytes
  }
}
