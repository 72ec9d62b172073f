import Foundation
import MagicData
import Synchronization
import Testing

/// A value that runs a closure when it is deinitialized, and counts how often.
private final class Reader: MagicalCodable, Sendable {
  static let count = Atomic<Int>(0)
  private static let isRunning = Atomic<Bool>(false)
  static let storedOnDeinit = Mutex<(@Sendable () -> Void)?>(nil)

  static var onDeinit: (@Sendable () -> Void)? {
    get { storedOnDeinit.withLock { $0 } }
    set { storedOnDeinit.withLock { $0 = newValue } }
  }

  let number: Int

  init(_ number: Int) { self.number = number }

  deinit {
    Reader.count.add(1, ordering: .relaxed)
    // The closure may create and release other values.
    guard !Reader.isRunning.exchange(true, ordering: .relaxed) else { return }
    Reader.onDeinit?()
    Reader.isRunning.store(false, ordering: .relaxed)
  }
}

/// An object with values whose deinitializers read the object itself.
private final class Document: MagicObject, @unchecked Sendable {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  @MagicValue var value: Reader
  @OptionalMagicValue var maybe: Reader?
  @MagicValue var file: MagicAsset<Reader>
  @MagicValue var lazy: AsyncMagical<MagicAsset<Reader>>
  @OptionalMagicValue var next: Document?
  @MagicValue var list: [Document]

  init() {
    text = "text"
    value = Reader(0)
    maybe = Reader(1)
    file = MagicAsset(value: Reader(2))
    lazy = AsyncMagical(value: MagicAsset(value: Reader(3)))
    list = []
    // Set twice, so that values are released during initialization.
    value = Reader(4)
    maybe = nil
  }

  /// Reads each property.
  func readAll() {
    _ = (text, value.number, maybe?.number, next?.text, list.count, file, lazy)
    _ = try? file.get()
    _ = try? lazy.get()
  }

  /// Replaces the value of each property.
  func replaceAll() {
    value = Reader(5)
    maybe = Reader(6)
    maybe = nil
    file = MagicAsset(value: Reader(7))
    lazy.set(MagicAsset(value: Reader(8)))
    lazy = AsyncMagical(value: MagicAsset(value: Reader(9)))
    lazy.set(MagicAsset(value: Reader(10)))
    next = Document()
    next = nil
    list = [Document(), Document()]
    list = []
    text = "other"
  }
}

/// Tests values whose deinitializers read their object or others: the library must not release them
/// under a lock.
@Suite struct HoldReleaseTests {
  private static func watch(_ document: Document) {
    Reader.onDeinit = { [weak document] in document?.readAll() }
  }

  @Test func `a value's deinitializer can read the unsaved object that held it`() async {
    await #expect(processExitsWith: .success) {
      let document = Document()
      HoldReleaseTests.watch(document)
      document.replaceAll()
      document.replaceAll()
      guard Reader.count.load(ordering: .relaxed) > 20 else { exit(2) }
    }
  }

  private static func replaceValues() throws {
    let magic = try MagicData(type: .temporary)
    let saved = Document()
    HoldReleaseTests.watch(saved)
    try magic.update(saved)
    saved.replaceAll()
    try magic.update(saved)
    saved.replaceAll()

    let fetched = try magic.object(of: Document.self, primary: saved.id)
    HoldReleaseTests.watch(fetched)
    fetched.replaceAll()
    try magic.update(fetched)
    fetched.replaceAll()
    // The rollback restores the previous values.
    struct Stop: Error {}
    try? magic.transaction {
      try magic.update([fetched, saved])
      fetched.replaceAll()
      try magic.update(fetched)
      fetched.replaceAll()
      throw Stop()
    }
    let other = try MagicData(type: .memory)
    try other.update(fetched)
    fetched.replaceAll()
    try magic.update([fetched, saved])
    try magic.remove(fetched)
    fetched.replaceAll()
  }

  @Test func `a value's deinitializer can read the saved or fetched object that held it`() async {
    await #expect(processExitsWith: .success) {
      try HoldReleaseTests.replaceValues()
      guard Reader.count.load(ordering: .relaxed) > 100 else { exit(2) }
    }
  }

  @Test func `a cached asset value is released without a lock`() async {
    await #expect(processExitsWith: .success) {
      let magic = try MagicData(type: .temporary)
      let document = Document()
      try magic.update(document)
      let fetched = try magic.object(of: Document.self, primary: document.id)
      let file = fetched.file
      _ = try file.get()
      Reader.onDeinit = { _ = try? file.get() }
      document.file = MagicAsset(value: Reader(20))
      try magic.update(document)
      // Reading the new content releases the previous value.
      guard try file.get()?.number == 20 else { exit(3) }
      Reader.onDeinit = nil
    }
  }
}
