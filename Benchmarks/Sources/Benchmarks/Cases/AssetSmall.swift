import Foundation
import MagicData

/// A case that stores small assets one by one, each durable together with its row, compared with C
/// that writes files and rows with the same syncs.
///
/// Before each commit, C syncs the folder of the files (for the previous rename), the new file and
/// the folder of pending files. The commit syncs the database.
struct AssetSmall: Case {
  let name = "asset-small"
  let summary = "put 200 contents of 1 KiB, each with its row in a separate durable transaction"

  private static let count = 200
  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .statement: statement, .object: object] }

  func operations(on fixture: Fixture) -> Int { Self.count }
  var maximumRuns: Int { 9 }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let (contents, names) = (contents(of: trial.fixture), AssetFiles.names(Self.count))
    let assets = try AssetFiles(at: trial.fixture.freshPath)
    let folder = try AssetFiles.descriptor(of: assets.pending)
    defer { close(folder) }
    let place = try AssetFiles.descriptor(of: assets.files)
    defer { close(place) }
    try trial.measure {
      for (name, content) in zip(names, contents) {
        guard fsync(place) == 0 else { throw Failure("fsync \(assets.files): \(errno)") }
        try assets.write(content, to: name, syncs: true)
        guard fsync(folder) == 0 else { throw Failure("fsync \(assets.pending): \(errno)") }
        try assets.connection.execute("BEGIN IMMEDIATE")
        try assets.insertRow(name, size: content.count)
        try assets.connection.execute("COMMIT")
        try assets.move(name)
      }
    }
    return try assets.checksum(of: names)
  }

  private func statement(_ trial: inout Trial) throws -> Checksum {
    let path = trial.fixture.freshPath
    let database = try Database(settingsAt: path, isDurable: true)
    let store = try AssetStore(database, folder: "\(path)-assets")
    let contents = contents(of: trial.fixture)
    let records = try trial.measure { try contents.map { try store.put($0) } }
    return Checksum(ofContents: try records.map { try store.bytes(of: $0.id) })
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.freshPath, isDurable: true)
    let photos = contents(of: trial.fixture).map { content in
      let photo = PhotoObject()
      photo.content = MagicAsset(value: Data(content))
      return photo
    }
    try trial.measure {
      for photo in photos { try magic.insert(photo) }
    }
    let stored = try magic.object(of: PhotoObject.self)
    return Checksum(ofContents: try stored.map { [UInt8](try $0.content.data() ?? Data()) })
  }

  private func contents(of fixture: Fixture) -> [[UInt8]] {
    AssetFiles.contents(Self.count, size: 1_024, fixture)
  }
}

private struct PhotoObject: MagicObject {
  static let tableName = "photo"

  @PrimaryMagicValue var id: Int
  @MagicValue var content: MagicAsset<Data>

  init() {}
}
