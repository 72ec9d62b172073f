import Essentials
import SQLiteAssets
import SQLiteCore

/// The name of a file that ``Sync`` writes.
enum SyncFileName: Hashable, Sendable {
  /// Changes of a device, numbered from 1.
  case batch(device: String, number: Int64)
  /// A part of an asset's content.
  case asset(digest: String, part: Int)
  /// A part of a snapshot.
  case snapshotPart(device: String, number: Int64, part: Int)
  /// The list of a snapshot's parts, which is written last.
  case snapshot(device: String, number: Int64)

  var text: String {
    switch self {
    case .batch(let device, let number): "c-\(device)-\(number)"
    case .asset(let digest, let part): "a-\(digest)-\(part)"
    case .snapshotPart(let device, let number, let part): "p-\(device)-\(number)-\(part)"
    case .snapshot(let device, let number): "s-\(device)-\(number)"
    }
  }

  /// The device of a batch or a snapshot; the digest of an asset.
  var device: String {
    switch self {
    case .batch(let device, _), .snapshotPart(let device, _, _), .snapshot(let device, _): device
    case .asset(let digest, _): digest
    }
  }

  /// The number of a batch or a snapshot.
  var number: Int64 {
    switch self {
    case .batch(_, let number), .snapshotPart(_, let number, _), .snapshot(_, let number): number
    case .asset(_, let part): Int64(part)
    }
  }

  /// Returns the name of a part of this snapshot.
  func part(_ part: Int) -> SyncFileName {
    .snapshotPart(device: device, number: number, part: part)
  }

  /// Parses a name. Returns nil for a name of a foreign file.
  init?(_ text: String) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count >= 3, SyncFileName.isHexadecimal(fields[1]), let first = Int64(fields[2]),
      first >= 0
    else { return nil }
    let hash = String(fields[1])
    switch (fields[0], fields.count) {
    case ("c", 3): self = .batch(device: hash, number: first)
    case ("a", 3):
      guard let part = Int(exactly: first) else { return nil }
      self = .asset(digest: hash, part: part)
    case ("s", 3): self = .snapshot(device: hash, number: first)
    case ("p", 4):
      guard let part = Int(fields[3]), part >= 0 else { return nil }
      self = .snapshotPart(device: hash, number: first, part: part)
    default: return nil
    }
    // Another spelling of a number isn't our file.
    guard self.text == text else { return nil }
  }

  private static func isHexadecimal(_ text: Substring) -> Bool {
    [32, 64].contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}

/// The reason why a file of a sync folder can't be used.
enum SyncFileFault: Error, Hashable {
  /// The file is truncated or altered, or is not complete yet.
  case damaged
  /// The file was written by something else.
  case foreign
  /// A newer version of this library has written the file.
  case newerFormat
  /// The file is encrypted and there is no key, or the key is wrong, or the file isn't encrypted
  /// although there is a key.
  case wrongKey
}

/// The envelope of a file: a mark, the version, and the content with a digest that also covers the
/// name.
struct SyncFileFormat: Sendable {
  let cipher: (any SyncCipher)?

  private static let mark = Array("MagicSync".utf8)
  private static let version: UInt8 = 1

  func seal(_ payload: [UInt8], as name: SyncFileName) throws -> Data {
    var content = payload
    content += digest(payload, name)
    var file = Data(SyncFileFormat.mark)
    file.append(SyncFileFormat.version)
    if let cipher {
      file.append(1)
      file.append(try cipher.seal(Data(content), authenticating: Data(name.text.utf8)))
    } else {
      file.append(0)
      file.append(contentsOf: content)
    }
    return file
  }

  func open(_ file: Data, as name: SyncFileName) throws(SyncFileFault) -> [UInt8] {
    let start = SyncFileFormat.mark.count
    guard file.prefix(start).elementsEqual(SyncFileFormat.mark.prefix(file.count)) else {
      throw .foreign
    }
    guard file.count >= start + 2 else { throw .damaged }
    let head = [UInt8](file.dropFirst(start).prefix(2))
    guard head[0] <= SyncFileFormat.version else { throw .newerFormat }
    var content = [UInt8](file.dropFirst(start + 2))
    switch (head[1], cipher) {
    case (0, nil): break
    case (1, let cipher?):
      do {
        content = [UInt8](
          try cipher.open(Data(content), authenticating: Data(name.text.utf8)))
      } catch { throw .wrongKey }
    case (0, _?), (1, nil): throw .wrongKey
    default: throw .damaged
    }
    guard content.count >= 32 else { throw .damaged }
    let payload = Array(content.dropLast(32))
    guard content.suffix(32).elementsEqual(digest(payload, name)) else { throw .damaged }
    return payload
  }

  private func digest(_ payload: [UInt8], _ name: SyncFileName) -> [UInt8] {
    var hash = SHA256()
    hash.update(Array(name.text.utf8))
    hash.update(payload)
    return hash.finalize().bytes
  }
}
