// `import MagicTesting` also imports MagicTemplates.
@_exported public import MagicTemplates
public import SQLiteObjects
import Synchronization
public import Testing

/// A trait that gives each test, and each case of a parameterized test, its own copy of a template.
///
///     @Suite(.store(.library)) struct ShelfTests {
///       let magic: MagicData
///       init() throws { magic = try .current }
///
///       @Test func `a shelf is empty at first`() throws {
///         #expect(try magic.objects(of: Shelf.self).allSatisfy(\.books.isEmpty))
///       }
///     }
///
/// `MagicData.current` is the copy. Tests run in parallel without seeing each other's changes. The
/// copy is closed when the test ends.
///
/// If the test fails, the trait records the difference between the copy and its template, that is,
/// what the test has changed in the store. It is a warning, or an issue before Swift 6.3.
public struct StoreTrait: TestTrait, SuiteTrait, TestScoping {
  let template: StoreTemplate
  let type: MagicData.StoreType

  /// A Boolean value that indicates whether the tests of a suite inherit the trait, which is true.
  public var isRecursive: Bool { true }

  /// Runs a test with its own copy of the template.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of the test, or nil for a suite.
  ///   - function: The body of the test.
  /// - Throws: The error of `function`; `TemplateError`, `SQLiteError` or `AssetError` if the
  ///   template can't be copied, or if the copy can't be closed.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let magic = try await MagicData(copying: template, type: type)
    let hasFailed = Mutex(false)
    let watch = IssueHandlingTrait.compactMapIssues { issue in
      if issue.fails { hasFailed.withLock { $0 = true } }
      return issue
    }
    let outcome: Result<Void, any Error>
    do {
      try await watch.provideScope(for: test, testCase: testCase) {
        try await CurrentStore.$value.withValue(magic) { try await function() }
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
      hasFailed.withLock { $0 = true }
    }
    if hasFailed.withLock({ $0 }) { await explain(magic, test) }
    let closing = await Result { try await magic.close() }
    try outcome.get()
    try closing.get()
  }

  /// Adds a warning with the difference between a store and the template.
  private func explain(_ magic: MagicData, _ test: Test) async {
    // The test has failed already, and may have closed the store or left it in any state.
    let text: String
    do {
      let difference = try await magic.difference(from: template, deadline: .now + .seconds(10))
      text =
        difference.isEmpty
        ? "the store of the failed test is equal to its template"
        : "the store of the failed test differs from its template:\n\(difference)"
    } catch {
      text = "the store of the failed test can't be compared with its template: \(error)"
    }
    #if compiler(>=6.3)
      Issue.record(
        Comment(rawValue: text), severity: .warning, sourceLocation: test.sourceLocation)
    #else
      Issue.record(Comment(rawValue: text), sourceLocation: test.sourceLocation)
    #endif
  }
}

extension Trait where Self == StoreTrait {
  /// A trait that gives each test, and each case of a parameterized test, its own copy of a
  /// template, as `MagicData.current`.
  ///
  /// - Parameters:
  ///   - template: The template. The first test fills it.
  ///   - type: The storage of the copies: memory or files.
  public static func store(
    _ template: StoreTemplate, type: MagicData.StoreType = .memory
  ) -> Self {
    StoreTrait(template: template, type: type)
  }
}

/// The store of the running test.
private enum CurrentStore {
  @TaskLocal static var value: MagicData?
}

extension MagicData {
  /// The store of the running test, which the trait `store(_:type:)` has created.
  ///
  /// Child tasks of the test have the same store, and so do tasks that the test creates with
  /// `Task.init`. In detached tasks and on other threads, this property throws.
  ///
  /// - Throws: ``StoreTraitError/noStore`` if neither the test nor a suite that contains it has the
  ///   trait, or in a detached task or on another thread.
  public static var current: MagicData {
    get throws {
      guard let magic = CurrentStore.value else { throw StoreTraitError.noStore }
      return magic
    }
  }
}

/// The error of a test that uses `MagicData.current` without the trait `store(_:type:)`.
public enum StoreTraitError: Error, Hashable, CustomStringConvertible {
  /// Neither the test nor a suite that contains it has the trait, or the code runs in a detached
  /// task or on another thread.
  case noStore

  /// A description of the error in English.
  public var description: String {
    switch self {
    case .noStore:
      "this task has no store; add the trait .store(template) to the test or to its suite, and "
        + "read MagicData.current before you start a detached task or a thread"
    }
  }
}

extension Issue {
  /// Whether the issue makes its test fail. Without severities, before Swift 6.3, each one does.
  fileprivate var fails: Bool {
    #if compiler(>=6.3)
      isFailure
    #else
      true
    #endif
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
