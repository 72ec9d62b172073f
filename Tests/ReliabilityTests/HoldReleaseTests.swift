import Foundation
import MagicData
import Synchronization
import Testing

/// Reads something when it goes; says how often.
private final class Reader: MagicalCodable, Sendable {
  static let count = Atomic<Int>(0)
  private static let isReading = Atomic<Bool>(false)
  static let reading = Mutex<(@Sendable () -> Void)?>(nil)

  static var read: (@Sendable () -> Void)? {
    get { reading.withLock { $0 } }
    set { reading.withLock { $0 = newValue } }
  }

  let number: Int

  init(_ number: Int) { self.number = number }

  deinit {
    Reader.count.add(1, ordering: .relaxed)
    // What is read may make and release others.
    guard !Reader.isReading.exchange(true, ordering: .relaxed) else { return }
    Reader.read?()
    Reader.isReading.store(false, ordering: .relaxed)
  }
}

/// Holds values whose end reads the object itself.
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
    // Set twice, so that something goes while it is being made.
    value = Reader(4)
    maybe = nil
  }

  /// Looks at each property.
  func look() {
    _ = (text, value.number, maybe?.number, next?.text, list.count, file, lazy)
    _ = try? file.get()
    _ = try? lazy.get()
  }

  /// Replaces each property.
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

/// A value that goes reads its own object, or others: nothing is released under a lock.
@Suite struct HoldReleaseTests {
  private static func watch(_ document: Document) {
    Reader.read = { [weak document] in document?.look() }
  }

  @Test func `a value's end reads the unsaved object it was a value of`() async {
    await #expect(processExitsWith: .success) {
      let document = Document()
      HoldReleaseTests.watch(document)
      document.replaceAll()
      document.replaceAll()
      guard Reader.count.load(ordering: .relaxed) > 20 else { exit(2) }
    }
  }

  @Test func `a value's end reads the saved or fetched object it was a value of`() async {
    await #expect(processExitsWith: .success) {
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
      // Undone, it takes back what it held.
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
      guard Reader.count.load(ordering: .relaxed) > 100 else { exit(2) }
    }
  }

  @Test func `what was read of an asset goes without a lock`() async {
    await #expect(processExitsWith: .success) {
      let magic = try MagicData(type: .temporary)
      let document = Document()
      try magic.update(document)
      let fetched = try magic.object(of: Document.self, primary: document.id)
      let file = fetched.file
      _ = try file.get()
      Reader.read = { _ = try? file.get() }
      document.file = MagicAsset(value: Reader(20))
      try magic.update(document)
      // Read anew, the former value goes.
      guard try file.get()?.number == 20 else { exit(3) }
      Reader.read = nil
    }
  }
}
