import Foundation
import Fuzzing
import Testing

/// Runs the inputs in `Tests/Corpus`, which the fuzzers found, in each test run.
@Suite struct CorpusTests {
  /// Returns the inputs of a fuzzer from `Tests/Corpus`.
  private func inputs(_ name: String) throws -> [[UInt8]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Corpus/\(name)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.map { [UInt8](try Data(contentsOf: folder.appending(path: $0))) }
  }

  @Test func `database images return data or throw`() throws {
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

  @Test func `JSON in columns is decoded or rejected`() throws {
    let column = try JSONColumn()
    let inputs = try inputs("JSON")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try column.check(input) == nil) }
  }

  @Test func `no asset name escapes its folder`() throws {
    let inputs = try inputs("Assets")
    #expect(inputs.count > 20)
    for input in inputs { #expect(AssetNames.check(input) == nil) }
  }

  @Test func `SPON has the same meaning after it is written again`() throws {
    let inputs = try inputs("SPON")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try SPONText.check(input) == nil) }
  }

  @Test func `any response of a node returns rows or throws`() throws {
    let inputs = try inputs("Wire")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try WireFuzz.check(input) == nil) }
  }

  @Test func `the parser accepts the SQL that SQLite accepts and prints it with the same meaning`()
    throws
  {
    let inputs = try inputs("Syntax")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try SyntaxFuzz.check(input) == nil) }
  }

  @Test func `patches are applied and undone, or rejected`() throws {
    let inputs = try inputs("Patches")
    #expect(inputs.count > 20)
    for input in inputs { #expect(try PatchBytes.check(input) == nil) }
  }
}
