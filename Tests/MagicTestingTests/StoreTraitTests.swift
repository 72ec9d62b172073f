import Foundation
import MagicData
import MagicTesting
import Synchronization
import TestSupport
import Testing

@Suite(.store(.shelves)) struct StoreTraitTests {
  @Test func `a test has a copy of the template`() async throws {
    let magic = try MagicData.current
    #expect(try await magic.count(of: Volume.self) == 3)
    async let child = MagicData.current
    #expect(try await child === magic)
    #expect(magic.database.path == nil)
  }

  @Test(arguments: 0..<8)
  func `each case has its own copy`(number: Int) async throws {
    let magic = try MagicData.current
    try await magic.update(Volume("Case \(number)"))
    #expect(try await magic.count(of: Volume.self) == 4)
  }

  @Test(.store(.shelves, type: .temporary))
  func `the trait of a test precedes that of its suite`() throws {
    #expect(try MagicData.current.database.path != nil)
  }

  @Suite struct Nested {
    @Test func `a nested suite inherits the trait`() throws {
      #expect(try MagicData.current.count(of: Volume.self) == 3)
    }
  }

  @Test func `tests can expect a store to be equal to another store or to a template`() throws {
    let (magic, other) = (try MagicData.current, try MagicData(copying: .shelves))
    #expect(expectEqual(magic, other))
    #expect(expectEqual(magic, .shelves, "unchanged"))
    try magic.update(Volume("Lady Susan"))
    let issues = recorded {
      #expect(!expectEqual(magic, other, "the import"))
      #expect(!expectEqual(magic, .shelves))
      try? other.close()
      #expect(!expectEqual(magic, other))
    }
    #expect(issues.count == 3)
    #expect(
      issues.first?.comments.first?.rawValue == """
        the import: the store differs from the expected one:
        Volume: 1 row differs
          + 4: title "Lady Susan", rank 0, cover NULL
        """)
    #expect(issues.first?.sourceLocation?.fileID == #fileID)
    #expect(issues.last?.error as? MagicError == .closed)
  }
}

@Suite struct StoreTraitFailureTests {
  private struct Broken: Error {}

  @Test func `a test without the trait has no store`() {
    let error = #expect(throws: StoreTraitError.self) { try MagicData.current }
    #expect(
      error.map { "\($0)" }
        == "this task has no store; add the trait .store(template) to the test or to its suite, "
        + "and read MagicData.current before you start a detached task or a thread")
  }

  @Test func `a failed test shows how its store differs from the template`() async throws {
    let path = Mutex("")
    let issues = try await run(.store(.shelves)) {
      let magic = try MagicData.current
      path.withLock { $0 = magic.assets.path }
      try await magic.update(Volume("Lady Susan"))
      Issue.record("failure")
    }
    #expect(issues.map(\.severity) == [.error, .warning])
    #expect(
      issues.last?.comments.first?.rawValue == """
        the store of the failed test differs from its template:
        Volume: 1 row differs
          + 4: title "Lady Susan", rank 0, cover NULL
        """)
    #expect(!path.withLock { FileManager.default.fileExists(atPath: $0) })
  }

  @Test func `a failed test that changed nothing shows that its store is equal`() async throws {
    let issues = try await run(.store(.shelves)) { Issue.record("failure") }
    #expect(
      issues.last?.comments.first?.rawValue
        == "the store of the failed test is equal to its template")
  }

  @Test func `a test that throws shows the difference, too`() async throws {
    let issues = try await run(.store(.shelves)) {
      try await MagicData.current.updateAll(Volume.all, set: [.set(\.$rank, to: 7)])
      throw Broken()
    }
    #expect(issues.count == 1 || issues.count == 2)
    #expect(issues.contains { $0.comments.first?.rawValue.contains("~ 1: rank 1 → 7") == true })
  }

  @Test func `a test that passes, or fails as expected, shows nothing`() async throws {
    let issues = try await run(.store(.shelves)) {
      try await MagicData.current.update(Volume("Lady Susan"))
      try await MagicData.current.close()
    }
    #expect(issues.isEmpty)
  }

  @Test func `a failed test that has closed its store says so`() async throws {
    let issues = try await run(.store(.shelves)) {
      try await MagicData.current.close()
      Issue.record("failure")
    }
    #expect(issues.count == 2)
    #expect(
      issues.last?.comments.first?.rawValue
        == "the store of the failed test can't be compared with its template: "
        + "\(MagicError.closed)")
  }

  @Test func `a template that can't be filled fails the test with its error`() async throws {
    let template = StoreTemplate { _ in throw Broken() }
    await #expect(throws: TemplateError.self) {
      try await StoreTrait.store(template).provideScope(
        for: try #require(Test.current), testCase: Test.Case.current
      ) { Issue.record("the test must not run") }
    }
  }

  /// Runs a test body with a trait, and returns the issues that it recorded.
  private func run(
    _ trait: StoreTrait, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> [Issue] {
    let issues = Mutex<[Issue]>([])
    let catching = IssueHandlingTrait.compactMapIssues { issue in
      issues.withLock { $0.append(issue) }
      return nil
    }
    let test = try #require(Test.current)
    try await catching.provideScope(for: test, testCase: Test.Case.current) {
      do {
        try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
      } catch is Broken {}
    }
    return issues.withLock { $0 }
  }
}

/// Runs `body` and returns the issues that it recorded, which don't fail the test.
private func recorded(_ body: () -> Void) -> [Issue] {
  let issues = IssueLog()
  withKnownIssue {
    body()
  } matching: { issue in
    issues.add(issue)
    return true
  }
  return issues.all
}

private final class IssueLog: Sendable {
  private let issues = Mutex<[Issue]>([])
  var all: [Issue] { issues.withLock { $0 } }
  func add(_ issue: Issue) { issues.withLock { $0.append(issue) } }
}
