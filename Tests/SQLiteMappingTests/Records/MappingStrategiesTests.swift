import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

/// A coder that stores JSON with its bytes in reverse order.
private struct Backwards: NestedCoder {
  func encode(_ value: some Encodable) throws -> Value {
    .blob(try JSONEncoder().encode(value).reversed())
  }

  func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws -> Result {
    guard case .blob(let bytes) = value else { throw value.mismatch(expected: type) }
    return try JSONDecoder().decode(type, from: Data(bytes.reversed()))
  }
}

private struct Sample: Record, Equatable {
  @TaskLocal static var strategies = MappingStrategies()
  var id: UUID
  var createdAt: Date
  var rawData: Data
  var elapsed: Duration
  var someTags: [String]
}

@Suite(.everyEngine) struct MappingStrategiesTests {
  private let sample = Sample(
    id: UUID(), createdAt: Date(timeIntervalSinceReferenceDate: 1_000.5), rawData: Data([1, 255]),
    elapsed: .milliseconds(1_500), someTags: ["a", "b"])

  /// Saves the sample and checks that it is fetched unchanged.
  ///
  /// - Returns: The stored values by column name.
  private func store(_ change: (inout MappingStrategies) -> Void) throws -> [String: Value] {
    var strategies = MappingStrategies()
    change(&strategies)
    return try Sample.$strategies.withValue(strategies) {
      let database = try Database.fresh()
      try database.write { try $0.update(sample) }
      #expect(try database.read { try $0.objects(of: Sample.self) } == [sample])
      #expect(try database.read { try $0.object(of: Sample.self, ifPresent: sample.id) } == sample)
      let row = try #require(try database.executeQuery("SELECT * FROM Sample").first)
      return Dictionary(uniqueKeysWithValues: zip(row.columnNames, row.values))
    }
  }

  @Test func `the default strategies store readable text`() throws {
    let stored = try store { _ in }
    #expect(stored["createdAt"] == .text("2001-01-01 00:16:40.5"))
    #expect(stored["rawData"] == .blob([1, 255]))
    #expect(stored["id"] == .text(sample.id.uuidString))
    #expect(stored["someTags"] == .text(#"["a","b"]"#))
  }

  @Test func `each strategy changes only its columns`() throws {
    let stored = try store {
      $0.dates = .millisecondsSince1970
      $0.data = .base64
      $0.uuids = .blob
      $0.durations = .nanoseconds
      $0.nested = .blob
    }
    #expect(stored["createdAt"] == .integer(978_308_200_500))
    #expect(stored["rawData"] == .text("Af8="))
    #expect(stored["id"]?.storageClass == "BLOB")
    #expect(stored["elapsed"] == .integer(1_500_000_000))
    #expect(stored["someTags"] == .blob(Array(#"["a","b"]"#.utf8)))
  }

  @Test func `the snake case strategy renames columns`() throws {
    let stored = try store { $0.keys = .convertToSnakeCase }
    #expect(Set(stored.keys) == ["id", "created_at", "raw_data", "elapsed", "some_tags"])
  }

  @Test func `a custom coder stores nested values`() throws {
    let stored = try store { $0.nested = .coder(Backwards()) }
    #expect(stored["someTags"] == .blob(Array(#"["a","b"]"#.utf8.reversed())))
  }
}
