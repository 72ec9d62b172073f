import Conformance
import MagicData
import Testing
import TestSupport

/// Fetched objects whose targets another process has deleted.
@Suite(.everyEngine) struct DeletedTargetTests {
  let folder: TestFolder
  let magic: MagicData
  let tree: Tree

  /// Creates and fetches a tree whose leaves another process then deletes.
  init() async throws {
    folder = try TestFolder()
    let magic = try await MagicData.at(folder.path)
    self.magic = magic
    let tree = Tree("oak", lazyOne: Leaf("lazy"))
    tree.list = [Leaf("a"), Leaf("b")]
    tree.one = tree.list[0]
    tree.lazyList.set(tree.list)
    try await magic.update(tree)
    self.tree = try await magic.object(of: Tree.self, primary: tree.id)
    let path = folder.path
    // A cluster's nodes belong to this process, where another session serves as another process.
    guard Engine.current == .local else {
      try Self.removeLeaves(path)
      return
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try DeletedTargetTests.removeLeaves(path)
    }
  }

  private static func removeLeaves(_ path: String) throws {
    let magic = try MagicData.at(path)
    // Required leaves can be deleted only without foreign keys.
    #expect(throws: MagicError.restricted(type: "Leaf", by: ["Tree.lazyOne"])) {
      try magic.removeAll(Leaf.all)
    }
    try magic.database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA foreign_keys = 0")
      try connection.executeMultipleChanges(
        "DELETE FROM Leaf; DELETE FROM Tree_list; DELETE FROM Tree_lazyList")
    }
    try magic.database.close()
  }

  @Test func `fetched related objects are unchanged`() {
    #expect(tree.list.map(\.text) == ["a", "b"])
    #expect(tree.one?.text == "a")
  }

  @Test func `lazy relations throw missingTarget or are empty`() throws {
    #expect(throws: MagicError.missingTarget(type: "Leaf", zIndex: 3)) { try tree.lazyOne.get() }
    #expect(try tree.lazyList.count() == 0)
    #expect(try tree.lazyList.randomValue() == nil)
  }

  @Test func `saving a relation to a deleted object throws`() throws {
    let gone = tree.list[0]
    tree.set = [gone]
    #expect(throws: MagicError.self) { try magic.update(tree) }
    let new = Tree("new", lazyOne: Leaf("new"))
    new.one = gone
    #expect(throws: MagicError.self) { try magic.update(new) }
    #expect(try magic.count(of: Tree.self) == 1)
  }
}
