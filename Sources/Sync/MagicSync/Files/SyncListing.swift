/// The names of the files in a folder.
struct SyncListing {
  /// The numbers of the batches, by device.
  private(set) var batches: [String: Set<Int64>] = [:]
  private(set) var snapshots: Set<SyncFileName> = []
  private(set) var snapshotParts: Set<SyncFileName> = []
  /// The numbers of the parts of each asset, by digest.
  private(set) var assets: [String: Set<Int>] = [:]

  init(_ names: [String]) {
    for name in names.lazy.compactMap(SyncFileName.init) { insert(name) }
  }

  mutating func insert(_ name: SyncFileName) {
    switch name {
    case .batch(let device, let number): batches[device, default: []].insert(number)
    case .asset(let digest, let part): assets[digest, default: []].insert(part)
    case .snapshot: snapshots.insert(name)
    case .snapshotPart: snapshotParts.insert(name)
    }
  }

  /// The hash values of the digests of all assets.
  var assetHashes: Set<Int> { Set(assets.keys.lazy.map(\.hashValue)) }

  /// Returns whether all parts of an asset are present.
  func hasAsset(_ digest: String, partCount: Int) -> Bool {
    guard let parts = assets[digest] else { return false }
    return (0..<partCount).allSatisfy(parts.contains)
  }
}
