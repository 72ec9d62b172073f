import Foundation
import Fuzzing
import Testing

/// What the fuzzers have found worth keeping is tried at every run of the tests.
@Suite struct CorpusTests {
  /// The inputs of a fuzzer, in `Tests/Corpus`.
  private func inputs(_ name: String) throws -> [[UInt8]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Corpus/\(name)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.map { [UInt8](try Data(contentsOf: folder.appending(path: $0))) }
  }

  @Test func `database images give data or errors`() throws {
    let inputs = try inputs("Database")
    #expect(inputs.count > 20)
    for input in inputs { DatabaseImage.use(input) }
  }

  @Test func `literals and identifiers are read as they were written`() throws {
    let quoting = try Quoting()
    let inputs = try inputs("Quoting")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try quoting.check(input) == nil) }
  }

  @Test func `JSON in columns is read or refused`() throws {
    let column = try JSONColumn()
    let inputs = try inputs("JSON")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try column.check(input) == nil) }
  }

  @Test func `no name of an asset leads out of its folder`() throws {
    let inputs = try inputs("Assets")
    #expect(inputs.count > 20)
    for input in inputs { #expect(AssetNames.check(input) == nil) }
  }

  @Test func `SPON means the same when it is written anew`() throws {
    let inputs = try inputs("SPON")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try SPONText.check(input) == nil) }
  }

  @Test func `any answers of a node give rows or errors`() throws {
    let inputs = try inputs("Wire")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try WireFuzz.check(input) == nil) }
  }

  @Test func `SQL is accepted or refused as SQLite does, and printed as it was meant`() throws {
    let inputs = try inputs("Syntax")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try SyntaxFuzz.check(input) == nil) }
  }

  @Test func `patches are applied and undone, or refused`() throws {
    let inputs = try inputs("Patches")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try PatchBytes.check(input) == nil) }
  }
}
