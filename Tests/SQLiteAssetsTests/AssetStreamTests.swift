import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

@Suite struct AssetStreamTests {
  struct Stop: Error {}

  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  init() throws { fixture = try StoreFixture() }

  /// Returns the bytes in pieces of `size`, followed by an error if `fails` is true.
  private func stream(
    _ size: Int, fails: Bool = false
  ) -> AsyncThrowingStream<[UInt8], any Error> {
    AsyncThrowingStream { continuation in
      for start in stride(from: 0, to: bytes.count, by: size) {
        continuation.yield(bytes[start..<min(start + size, bytes.count)].map(\.self))
      }
      continuation.finish(throwing: fails ? Stop() : nil)
    }
  }

  @Test(arguments: [1_000, 262_144, 700_000], [0, 1_000_000])
  func `content can be put from a stream and read as a stream`(size: Int, minimumFileSize: Int)
    async throws
  {
    store.minimumFileSize = minimumFileSize
    let record = try await store.put(stream(size), extension: "bin")
    #expect(record.size == bytes.count)
    #expect(record.sha256 == SHA256.digest(of: bytes))
    #expect(record.fileExtension == "bin")
    var all: [UInt8] = []
    for try await piece in try await store.open(record.id).pieces(of: 100_000) {
      #expect(piece.count <= 100_000)
      all += piece
    }
    #expect(all == bytes)
    #expect(try await store.bytes(of: record.id) == bytes)
  }

  @Test func `a put accepts pieces of any sequence type and single bytes`() async throws {
    let data = AsyncStream<Data> { continuation in
      continuation.yield(Data([1, 2]))
      continuation.yield(Data([3]))
      continuation.finish()
    }
    let single = AsyncStream<UInt8> { continuation in
      for byte in bytes.prefix(300_000) { continuation.yield(byte) }
      continuation.finish()
    }
    #expect(try await store.put(data).size == 3)
    let staged = try await store.stage(single)
    #expect(staged.size == 300_000)
    #expect(staged.sha256 == SHA256.digest(of: bytes.prefix(300_000).map(\.self)))
  }

  @Test func `a failing stream leaves no file`() async throws {
    await #expect(throws: Stop.self) { try await store.put(stream(1_000, fails: true)) }
    #expect(fixture.pending == [])
    #expect(try await store.records() == [])
  }

  @Test func `cancelling a put leaves no file`() async throws {
    let store = store
    let endless = AsyncStream<[UInt8]> { [1, 2, 3] }
    let task = Task { try await store.put(endless) }
    try await waitUntil { !fixture.pending.isEmpty }
    task.cancel()
    // The stream ends at the cancellation, too, so `put` either throws or succeeds.
    _ = try? await task.value
    #expect(fixture.pending == [])
    #expect(try await store.verify() == [])
  }

  @Test func `staged content that is never put is deleted`() async throws {
    do {
      let staged = try await store.stage([1, 2])
      #expect(staged.size == 2)
      #expect(fixture.pending.count == 1)
    }
    #expect(fixture.pending == [])
  }

  @Test func `the first put moves staged content, later puts copy it`() async throws {
    let staged = try await store.stage(stream(1_000), extension: "x")
    fixture.operations.follow(.init())
    let first = try await store.put(staged)
    #expect(fixture.operations.log.contains("write") == false)
    let second = try await store.put(staged)
    #expect(first.name != second.name)
    try await store.delete(first.id)
    #expect(try await store.bytes(of: second.id) == bytes)
    #expect(second.fileExtension == "x")
    let third = try await fixture.another().put(staged)
    #expect(try await store.bytes(of: third.id) == bytes)
  }

  @Test func `staged content survives a rollback of the transaction that put it`() async throws {
    let staged = try await store.stage(stream(50_000))
    _ = try await fixture.database.write { connection in
      try store.put(staged, in: connection)
      return TransactionOutcome.rollback
    }
    #expect(fixture.pending == [])
    #expect(try await store.bytes(of: store.put(staged).id) == bytes)
    #expect(try await staged.readAll() == bytes)
  }

  @Test func `changing the extension renames the file and writes no content`() throws {
    let staged = try store.stage(bytes, extension: "x")
    fixture.operations.follow(.init())
    let put = try fixture.database.write { try store.put(staged, extension: "y", in: $0) }
    #expect(put.fileExtension == "y")
    let reader = try store.open(put.id)
    let renamed = try fixture.database.write { connection in
      try store.replace(put.id, withCopyOf: reader, extension: "z", in: connection)
    }
    let log = Set(fixture.operations.log)
    #expect(log.isDisjoint(with: ["write", "pread", "clone"]))
    #expect(fixture.files == [renamed.name])
    #expect(renamed.fileExtension == "z")
    #expect(try store.bytes(of: put.id) == bytes)
    #expect(try store.verify() == [])
    // The first put used the staged file itself, so this one copies it.
    let copy = try fixture.database.write { try store.put(staged, extension: "y", in: $0) }
    #expect(try store.bytes(of: copy.id) == bytes)
    #expect(throws: AssetError.invalidExtension("../y")) {
      try fixture.database.write { try store.put(staged, extension: "../y", in: $0) }
    }
    #expect(fixture.pending == [])
  }

  @Test func `a file that can't be renamed or linked is copied`() throws {
    for call in ["renameat2", "linkat"] {
      let staged = try store.stage(bytes, extension: "x")
      fixture.operations.follow(.init(failing: 0, calls: [call]))
      let put = try fixture.database.write { try store.put(staged, extension: "y", in: $0) }
      let reader = try store.open(put.id)
      let renamed = try fixture.database.write { connection in
        try store.replace(put.id, withCopyOf: reader, extension: "z", in: connection)
      }
      #expect(fixture.operations.log.contains("write"))
      #expect(try store.bytes(of: renamed.id) == bytes)
    }
    fixture.operations.follow(.init())
    #expect(fixture.pending == [])
    #expect(fixture.files.count == 2)
    #expect(try store.verify() == [])
  }

  @Test func `a rename that is rolled back keeps the content under its old name`() throws {
    let record = try store.put(bytes, extension: "x")
    let reader = try store.open(record.id)
    _ = try fixture.database.write { connection in
      try store.replace(record.id, withCopyOf: reader, extension: "y", in: connection)
      #expect(try store.bytes(of: record.id, in: connection) == bytes)
      return TransactionOutcome.rollback
    }
    #expect(fixture.files == [record.name])
    #expect(fixture.pending == [])
    #expect(try store.bytes(of: record.id) == bytes)
  }

  @Test func `staged content replaces an asset and keeps its extension by default`() async throws {
    let record = try await store.put([1], extension: "jpeg")
    let plain = try await store.replace(record.id, with: await store.stage([2]))
    #expect(plain.fileExtension == "jpeg")
    let named = try await store.replace(record.id, with: store.stage([3], extension: "png"))
    #expect(named.fileExtension == "png")
    #expect(fixture.files == [named.name])
    #expect(try await store.replace(record.id, with: [4]).fileExtension == "png")
    #expect(try await store.delete(record.id))
    #expect(try await store.records() == [])
  }

  @Test func `damage is detected at the end of a stream`() async throws {
    let record = try await store.put(bytes)
    let path = try await store.path(of: record.id)
    var damaged = bytes
    damaged[600_000] ^= 1
    try Data(damaged).write(to: URL(filePath: path))
    var count = 0
    await #expect(throws: AssetError.damagedFile(record.id, path: path)) {
      for try await piece in try await store.open(record.id).pieces() { count += piece.count }
    }
    #expect(count == bytes.count)
    #expect(try await store.verify().count == 1)
    #expect(try await store.sweep().removed == [])
  }

  @Test func `a copy is a clone without writes on a copy-on-write file system`() async throws {
    try Data(bytes).write(to: URL(filePath: "\(fixture.temporary.path)/source"))
    fixture.operations.follow(.init(clones: true))
    let record = try await store.put(contentsOf: "\(fixture.temporary.path)/source")
    let again = try await store.put(contentsOf: "\(fixture.temporary.path)/source")
    #expect(fixture.operations.log.contains("write") == false)
    #expect(record.sha256 == SHA256.digest(of: bytes))
    #expect(record.size == bytes.count)
    #expect(try await store.bytes(of: record.id) == bytes)
    #expect(try await store.bytes(of: again.id) == bytes)
    #expect(try fixture.temporary.permissions("assets/files/\(record.name)") == 0o600)
  }
}
