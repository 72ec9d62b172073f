import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

/// The decoders, encoders and containers that values stored illegally, each as a closure that uses
/// it.
private enum Vault {
  /// Proof: each is used by one thread at a time, the one that removed it from the vault.
  struct Attempt: @unchecked Sendable {
    let name: String
    let run: () throws -> Void
  }

  /// The attempts of each thread. Other threads must not use them before the row has ended.
  private static let own = Mutex<[ObjectIdentifier: [Attempt]]>([:])
  /// The attempts that all threads can use.
  private static let common = Mutex<[Attempt]>([])

  static func keep(_ name: String, _ run: @escaping () throws -> Void) {
    let attempt = Attempt(name: name, run: run)
    own.withLock { $0[ObjectIdentifier(Thread.current), default: []].append(attempt) }
  }

  /// Runs this thread's attempts, shares them with other threads, and returns the names of those
  /// that didn't throw.
  static func succeeding() -> [String] {
    let kept = own.withLock { $0.removeValue(forKey: ObjectIdentifier(Thread.current)) } ?? []
    let succeeded = names(kept)
    common.withLock { $0 += kept }
    return succeeded
  }

  /// Runs the shared attempts and returns the names of those that didn't throw.
  static func succeedingOnAllThreads() -> [String] {
    names(
      common.withLock { all in
        defer { all.removeAll() }
        return all
      })
  }

  private static func names(_ attempts: [Attempt]) -> [String] {
    attempts.compactMap { attempt in
      do {
        try attempt.run()
        return attempt.name
      } catch {
        return nil
      }
    }
  }
}

/// A value in one column that stores its decoders and encoders.
private struct Code: Codable, Equatable {
  var text: String

  init(_ text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    text = try container.decode(String.self)
    Vault.keep("column decoder") { _ = try decoder.singleValueContainer() }
    Vault.keep("column decoder's JSON") { _ = try decoder.unkeyedContainer() }
    Vault.keep("column container") { _ = try container.decode(String.self) }
    Vault.keep("column container, nil") {
      // It can't throw and returns a default.
      if container.decodeNil() { return }
      _ = try container.decode(Int.self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
    let kept = container
    Vault.keep("column encoder") {
      var container = encoder.singleValueContainer()
      try container.encode("foreign")
    }
    Vault.keep("column encoder's keys") {
      var container = encoder.container(keyedBy: Spy.CodingKeys.self)
      try container.encode(1, forKey: .id)
    }
    Vault.keep("column value container") {
      var container = kept
      try container.encode("foreign")
    }
    Vault.keep("column value container, nil") {
      var container = kept
      try container.encodeNil()
    }
  }
}

/// A record that stores all decoders, encoders and containers that it receives.
private struct Spy: Record, Equatable {
  enum CodingKeys: String, CodingKey { case id, name, code, tags }
  /// Keys longer than one byte, which use a different code path.
  struct LongKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  var id: Int
  var name: String
  var code: Code
  var tags: [String]

  init(_ id: Int) {
    self.id = id
    name = "name \(id)"
    code = Code("code \(id)")
    tags = ["a\(id)"]
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    name = try container.decode(String.self, forKey: .name)
    code = try container.decode(Code.self, forKey: .code)
    tags = try container.decode([String].self, forKey: .tags)
    let long = try decoder.container(keyedBy: LongKey.self)
    let `super` = try container.superDecoder(forKey: .name)
    let single = try decoder.singleValueContainer()
    Vault.keep("decoder") { _ = try decoder.container(keyedBy: CodingKeys.self) }
    Vault.keep("decoder, single") { _ = try decoder.singleValueContainer() }
    Vault.keep("decoder as a value") { _ = try single.decode(Plain.self) }
    Vault.keep("container") { _ = try container.decode(String.self, forKey: .name) }
    Vault.keep("container, if present") {
      _ = try container.decodeIfPresent(String.self, forKey: .name)
    }
    Vault.keep("container, nil") { _ = try container.decodeNil(forKey: .name) }
    Vault.keep("container, any type") { _ = try container.decode([String].self, forKey: .tags) }
    Vault.keep("container's super") { _ = try container.superDecoder(forKey: .name) }
    Vault.keep("super") { _ = try `super`.singleValueContainer().decode(String.self) }
    Vault.keep("long keys") { _ = try long.decode(String.self, forKey: LongKey("name")) }
    Vault.keep("long keys, if present") {
      _ = try long.decodeIfPresent(Int.self, forKey: LongKey("id"))
    }
    Vault.keep("container says nothing") {
      guard !container.contains(.name), container.allKeys.isEmpty, !long.contains(LongKey("name")),
        long.allKeys.isEmpty, `super`.codingPath.isEmpty
      else { return }
      throw CancellationError()
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(code, forKey: .code)
    var nested = container.nestedUnkeyedContainer(forKey: .tags)
    for tag in tags { try nested.encode(tag) }
    let (kept, list) = (container, nested)
    Vault.keep("encoder") {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("foreign", forKey: .name)
    }
    Vault.keep("encoder, single") {
      var container = encoder.singleValueContainer()
      try container.encode(Plain(name: "foreign"))
    }
    Vault.keep("encoding container") {
      var container = kept
      try container.encode("foreign", forKey: .name)
    }
    Vault.keep("encoding container, nil") {
      var container = kept
      try container.encodeNil(forKey: .name)
    }
    Vault.keep("encoding container's list") {
      var container = kept
      var list = container.nestedUnkeyedContainer(forKey: .tags)
      try list.encode("foreign")
    }
    Vault.keep("list") {
      var container = list
      try container.encode("foreign")
    }
  }
}

/// A value with a synthesized coding.
private struct Plain: Codable {
  var name: String
}

/// A value that is nested in the columns of a join.
private struct Joined: Decodable {
  struct Inner: Decodable {
    enum CodingKeys: String, CodingKey { case n }
    let n: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      n = try container.decode(Int.self, forKey: .n)
      Vault.keep("inner decoder") { _ = try decoder.container(keyedBy: CodingKeys.self) }
      Vault.keep("inner container") { _ = try container.decode(Int.self, forKey: .n) }
      Vault.keep("inner as a value") {
        _ = try decoder.singleValueContainer().decode([String: Int].self)
      }
    }
  }
  var id: Int
  var inner: Inner?
}

/// A record with a property whose type encodes itself as a single value.
private struct Coded: Record, Equatable {
  var id: Int
  var code: Code
}

@Suite(.serialized) struct HoldDecoderTests {
  let folder: TestFolder
  let database: Database

  init() throws {
    folder = try TestFolder.inMemory()
    database = try Database(path: folder.file())
    _ = (Vault.succeeding(), Vault.succeedingOnAllThreads())
  }

  @Test func `a decoder stored by a record throws after the end of its row`() throws {
    try database.write { try $0.insert(contentsOf: (0..<20).map(Spy.init)) }
    #expect(Vault.succeeding() == [])
    var count = 0
    try database.read { connection in
      try connection.forEach(Spy.all) { _ in
        count += 1
        #expect(Vault.succeeding() == [])
      }
      try connection.forEach(.sql("SELECT * FROM Spy", as: Spy.self)) { spy in
        #expect(spy == Spy(spy.id))
        #expect(Vault.succeeding() == [])
      }
      // Each is used while another query visits its rows.
      let all = try connection.objects(of: Spy.self)
      try connection.forEachRow("SELECT * FROM Spy") { _ in
        #expect(Vault.succeeding() == [])
      }
      #expect(all == (0..<20).map(Spy.init))
    }
    #expect(count == 20)
  }

  @Test func `an encoder stored by a record can't write into another row`() throws {
    try database.write { connection in
      for id in 0..<20 {
        try connection.insert(Spy(id))
        #expect(Vault.succeeding() == [])
      }
      try connection.insert(contentsOf: (20..<40).map(Spy.init))
      #expect(Vault.succeeding() == [])
      try connection.remove(Spy(39))
      #expect(Vault.succeeding() == [])
    }
    #expect(
      try database.read { try $0.objects(of: Spy.self, orderedBy: .column("id")) }
        == (0..<39).map(Spy.init))
    #expect(Vault.succeeding() == [])
  }

  @Test func `a decoder stored by a nested value throws after the end of its row`() throws {
    try database.read { connection in
      let sql: SQL = """
        SELECT 1 AS id, 2 AS "inner.n" UNION ALL SELECT 3, NULL UNION ALL SELECT 4, 5
        """
      var inner: [Int?] = []
      try connection.forEach(.sql(sql, as: Joined.self)) {
        inner.append($0.inner?.n)
        #expect(Vault.succeeding() == [])
      }
      #expect(inner == [2, nil, 5])
    }
  }

  @Test func `a decoder stored by a property's value throws after the end of its row`() throws {
    try database.write { connection in
      for id in 0..<10 {
        try connection.insert(Coded(id: id, code: Code("\(id)")))
        #expect(Vault.succeeding() == [])
      }
      try connection.forEach(Coded.all) {
        #expect($0.code == Code("\($0.id)"))
        #expect(Vault.succeeding() == [])
      }
    }
  }

  /// Tests many threads with few pooled connections and statements, with seeded random operations.
  @Test(arguments: [0, 2, 128])
  func `stored decoders and encoders throw on every thread`(capacity: Int) throws {
    var options = Database.Options()
    options.maximumReaderCount = 2
    options.statementCacheCapacity = capacity
    let database = try Database(path: folder.file("many"), options: options)
    try database.write { try $0.insert(contentsOf: (0..<8).map(Spy.init)) }
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var random = SplitMix64(seed: UInt64(thread * 1_000 + capacity))
      for round in 0..<60 {
        do {
          switch Int.random(in: 0..<6, using: &random) {
          case 0: _ = try database.read { try $0.objects(of: Spy.self) }
          case 1:
            _ = try database.read {
              try $0.object(of: Spy.self, ifPresent: Int.random(in: 0..<8, using: &random))
            }
          case 2: _ = try database.read { try $0.fetch(.sql("SELECT * FROM Spy", as: Spy.self)) }
          case 3: try database.write { try $0.update(Spy(Int.random(in: 0..<8, using: &random))) }
          case 4:
            let id = 1_000 * (thread + 1) + round
            try database.write { try $0.insert(Spy(id)) }
            try database.write { try $0.remove(Spy(id)) }
          default:
            try database.read { connection in
              try connection.forEach(Spy.all) { spy in
                if spy != Spy(spy.id) { failures.withLock { $0.append("\(spy)") } }
                let succeeded = Vault.succeeding()
                failures.withLock { $0 += succeeded }
              }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        let succeeded = Vault.succeeding() + Vault.succeedingOnAllThreads()
        failures.withLock { $0 += succeeded }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try database.read { try $0.objects(of: Spy.self) }.allSatisfy { $0 == Spy($0.id) })
  }
}
