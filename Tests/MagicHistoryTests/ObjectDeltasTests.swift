import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

/// The rows and links of the authors, maintained only by deltas.
private struct Replica: Equatable {
  var names: [Int: String] = [:]
  var ages: [Int: Int] = [:]
  var photos: [Int: String] = [:]
  var links: [String: Set<StoredLink>] = [:]

  mutating func put(_ image: ObjectImage<Author>) throws {
    names[image.zIndex] = try image[\.$name]
    ages[image.zIndex] = try image[\.$age]
    if case .text(let id)? = image.stored("photo") {
      photos[image.zIndex] = id
    } else {
      photos[image.zIndex] = nil
    }
    for (property, links) in image.links { self.links[property, default: []].formUnion(links) }
  }

  mutating func apply(_ delta: Delta<ObjectImage<Author>>) throws {
    switch delta {
    case .current(let images):
      self = Replica(links: ["books": [], "friends": []])
      for image in images { try put(image) }
    case .inserted(let image): try put(image)
    case .updated(let old, let new, _):
      for (property, links) in old.links { self.links[property, default: []].subtract(links) }
      // If only links changed, the values of the update are newer than the update itself.
      try put(new)
    case .deleted(let image):
      names[image.zIndex] = nil
      ages[image.zIndex] = nil
      photos[image.zIndex] = nil
      for (property, links) in image.links { self.links[property, default: []].subtract(links) }
    case .overflow, .replaced: break
    case .unreadable(let row): throw row
    }
  }

  init(links: [String: Set<StoredLink>]) { self.links = links }

  /// Reads the current state of the store.
  init(_ magic: MagicData) throws {
    try magic.database.read { connection in
      for row in try connection.rows(
        "SELECT id, name, age, photo FROM Author", as: Int.self, String.self, Int?.self,
        String?.self)
      {
        names[row.0] = row.1
        ages[row.0] = row.2
        photos[row.0] = row.3
      }
      for (property, place) in [("books", "position"), ("friends", "NULL")] {
        let table = try connection.rows(
          "SELECT name FROM sqlite_schema WHERE name LIKE \("Author%\(property)") AND type = 'table'",
          as: String.self)
        links[property] = Set(
          try connection.rows(
            SQL(unchecked: "SELECT owner, \(place), target FROM \"\(table[0])\""), as: Int64.self,
            Value.self, Int64.self
          ).map { StoredLink(owner: $0, place: $1, target: $2) })
      }
    }
  }
}

@Suite(.timeLimit(.minutes(40))) struct ObjectDeltasTests {
  @Test(arguments: [1, 2, 3])
  func `a replica updated by deltas equals the objects after each transaction`(
    seed: UInt64
  ) async throws {
    let folder = try TestFolder()
    let magic = try await MagicData(path: folder.path)
    let other = try await MagicData(path: folder.path)
    let history = try await magic.history()
    var editor = RandomEditor(seed: seed)
    try begin(magic, &editor)
    var deltas = magic.deltas(of: Author.self, including: .current).makeAsyncIterator()
    var replica = Replica(links: [:])
    for delta in try #require(try await deltas.next()) { try replica.apply(delta) }
    var before = try Replica(magic)
    try #require(replica == before)
    for round in 0..<150 {
      try change(magic, other, history, &editor)
      let after = try Replica(magic)
      // Otherwise, at most the content of an asset has changed.
      if before == after { continue }
      before = after
      while replica != after {
        let deltasOfCommit = try #require(try await deltas.next(), "round \(round)")
        for delta in deltasOfCommit { try replica.apply(delta) }
      }
    }
  }

  private func begin(_ magic: MagicData, _ editor: inout RandomEditor) throws {
    try RandomEditor.prepare(magic)
    for _ in 0..<5 { try editor.edit(magic) }
  }

  /// Changes the store in one of several ways.
  private func change(
    _ magic: MagicData, _ other: MagicData, _ history: ObjectHistory, _ editor: inout RandomEditor
  ) throws {
    switch editor.number(0..<6) {
    case 0:
      // Omitting a row may leave a dangling link, which makes the whole undo throw.
      do { try history.undo { _ in .omit } } catch is PatchError {}
    case 1: try editor.edit(other)
    case 2:
      try? magic.transaction {
        try editor.edit(magic)
        throw CancellationError()
      }
    default:
      let count = editor.number(1..<4)
      try magic.undoable("edit") { for _ in 0..<count { try editor.edit(magic) } }
    }
  }

  @Test func `an update contains the names of changed properties, links and assets`() async throws {
    let magic = try await MagicData(type: .temporary)
    var deltas = magic.deltas(of: Author.self).makeAsyncIterator()
    let ann = Author("ann")
    ann.books = [Book("b", "alpha")]
    try await magic.update(ann)
    guard case .inserted(let image)? = try await deltas.next()?.first else {
      Issue.record("no insert")
      return
    }
    #expect(try image[\.$email] == "ann@x")
    #expect(image.zIndex == 1)
    #expect(image.links["books"]?.count == 1)
    ann.name = "Anna"
    ann.age = 3
    try await magic.update(ann)
    guard case .updated(let old, let new, let properties)? = try await deltas.next()?.first else {
      Issue.record("no update")
      return
    }
    #expect(properties == ["name", "age"])
    #expect(try old[\.$name] == "ann")
    #expect(try new[\.$name] == "Anna")
    #expect(try old[\.$age] == nil)
    // Changes of a link and of its owner's row in one commit are a single update.
    ann.friends = [ann]
    ann.photo = MagicAsset(value: Data([1]))
    try await magic.update(ann)
    #expect(try await names(&deltas) == ["friends", "photo"])
    ann.photo?.set(Data([2]))
    try await magic.update(ann)
    #expect(try await names(&deltas) == ["photo"])
    // Removing the book also deletes its link.
    try await magic.removeAll(Book.all)
    #expect(try await names(&deltas) == ["books"])
    // This change doesn't affect authors.
    try await magic.update(Shelf("s"))
    try await magic.database.executeChange("DELETE FROM Author")
    guard case .deleted(let gone)? = try await deltas.next()?.first else {
      Issue.record("no delete")
      return
    }
    #expect(try gone[\.$name] == "Anna")
    #expect(gone.links["friends"]?.count == 1)
  }

  private func names(
    _ deltas: inout some AsyncIteratorProtocol<[Delta<ObjectImage<Author>>], any Error>
  ) async throws -> Set<String> {
    guard case .updated(_, _, let properties)? = try await deltas.next()?.first else { return [] }
    return properties
  }

  @Test func `a reader that falls behind uses bounded memory and receives the current objects`()
    async throws
  {
    let magic = try await MagicData(type: .temporary)
    try await magic.update(Author("ann"))
    var deltas = magic.deltas(of: Author.self, including: .current, limit: 10_000)
      .makeAsyncIterator()
    for number in 0..<300 { try await magic.update(Author("n\(number)")) }
    guard case .current(let first)? = try await deltas.next()?.first else {
      Issue.record("expected the current objects")
      return
    }
    #expect(first.count == 301)
    for number in 0..<300 { try await magic.update(Author("m\(number)")) }
    guard case .overflow? = try await deltas.next()?.first else {
      Issue.record("expected overflow")
      return
    }
    guard case .current(let images)? = try await deltas.next()?.first else {
      Issue.record("expected the current objects")
      return
    }
    #expect(images.count == 601)
    try await magic.update(Author("last"))
    guard case .inserted(let last)? = try await deltas.next()?.first else {
      Issue.record("no insert")
      return
    }
    #expect(try last[\.$name] == "last")
  }

  @Test func `cancelling the task or closing the store ends the loop`() async throws {
    let magic = try await MagicData(type: .temporary)
    let loop = Task {
      for try await _ in magic.deltas(of: Author.self) {}
      return true
    }
    loop.cancel()
    #expect(try await loop.value)
    var deltas = magic.deltas(of: Author.self, including: .current).makeAsyncIterator()
    try await magic.database.close()
    await #expect(throws: MagicError.closed) { try await deltas.next() }
  }
}
