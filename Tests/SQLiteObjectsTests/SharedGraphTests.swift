import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

/// An object with each kind of property.
struct Spot: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var number: Int = 0
  @MagicValue var total: Int = 0
  @MagicValue var text: String = "0"
  @MagicValue var tags: [String] = []
  @OptionalMagicValue var one: Spot?
  @MagicValue var list: [Spot] = []
  @MagicValue var set: MagicalSet<Spot> = []
  @MagicValue var byName: [String: Spot] = [:]
  @MagicValue var lazyList = AsyncMagical<[Spot]>(value: [])
  @MagicValue var lazySet = AsyncMagical<MagicalSet<Spot>>(value: [])
  @MagicValue var lazyByName = AsyncMagical<[String: Spot]>(value: [:])
  @OptionalMagicValue var lazyOne: AsyncMagical<Spot>?
  @OptionalMagicValue var file: MagicAsset<Data>?
  @OptionalMagicValue var lazyFile: AsyncMagical<MagicAsset<Data>>?
  @ReverseMagicValue(\Spot.$list) var listOwners: AsyncReverseMagicSet<Spot>

  init() {}
  init(_ id: String) { self.id = id }
}

/// A relation of a spot that the tasks add links to.
private enum SpotLink: CaseIterable {
  case list, set, byName, lazyList, lazySet, lazyByName

  /// The keys of the objects that a relation of a spot references.
  func targets(of spot: Spot) async throws -> Set<String> {
    switch self {
    case .list: Set(spot.list.map(\.id))
    case .set: Set(spot.set.map(\.id))
    case .byName: Set(spot.byName.values.map(\.id))
    case .lazyList: Set(try await spot.lazyList.get().map(\.id))
    case .lazySet: Set(try await spot.lazySet.get().map(\.id))
    case .lazyByName: Set(try await spot.lazyByName.get().values.map(\.id))
    }
  }
}

/// The objects that all tasks use, and the changes that were acknowledged.
private final class SharedGraph: Sendable {
  struct Link: Hashable {
    let hub: String
    let relation: SpotLink
    let target: String
  }

  struct State {
    /// The objects that all tasks share. A task may replace one by another fetched object of the
    /// same row.
    var hubs: [Spot] = []
    /// The links that were saved and not removed since.
    var links: Set<Link> = []
    /// The links that were removed, and never added again.
    var removedLinks: Set<Link> = []
    /// The number of increments of `total` by hub.
    var totals: [String: Int] = [:]
    /// The number of increments of `number` by hub.
    var numbers: [String: Int] = [:]
  }

  let magic: MagicData
  let state = Mutex(State())
  /// Whether several objects of the same row are used.
  let isRefetching: Bool

  init(_ magic: MagicData, isRefetching: Bool) {
    self.magic = magic
    self.isRefetching = isRefetching
  }

  func hub(_ index: Int) -> Spot { state.withLock { $0.hubs[index] } }
}

/// One of the tasks that use the graph.
private struct GraphUser {
  let graph: SharedGraph
  let number: Int
  var random: SplitMix64
  /// The objects that only this task links and removes.
  var leaves: [Spot] = []
  var nextLeaf = 0
  var errors: [String: Int] = [:]

  static let hubCount = 5

  var magic: MagicData { graph.magic }

  init(_ graph: SharedGraph, _ number: Int, seed: UInt64) {
    self.graph = graph
    self.number = number
    random = SplitMix64(seed: seed &* 100 &+ UInt64(number))
  }

  private mutating func someHub() -> Spot {
    graph.hub(Int.random(in: 0..<Self.hubCount, using: &random))
  }

  /// Creates an object for a relation.
  ///
  /// - Parameter isShared: Whether a shared object will reference it. After its removal, saving the
  ///   shared object inserts it again, which isn't possible with an asset.
  private mutating func newLeaf(isShared: Bool = false) -> Spot {
    nextLeaf += 1
    let leaf = Spot("leaf-\(number)-\(nextLeaf)")
    if isShared { leaf.text = String(repeating: "3", count: 70) } else { set(leaf) }
    return leaf
  }

  /// Sets the values of a spot to values that are recognized if they are incomplete.
  private mutating func set(_ spot: Spot) {
    let digit = Int.random(in: 0...9, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: spot.text = String(repeating: "\(digit)", count: 10 + digit * 20)
    case 1: spot.tags = Array(repeating: "\(digit)", count: digit)
    case 2: spot.file = MagicAsset(value: content(digit))
    default: spot.lazyFile = AsyncMagical(value: MagicAsset(value: content(digit)))
    }
  }

  private func content(_ digit: Int) -> Data {
    Data(repeating: UInt8(digit), count: 1 + digit * 1_000)
  }

  /// Runs one random operation. Records the errors that concurrent removals and pending changes of
  /// other tasks permit, and throws all others.
  mutating func step() async throws {
    do {
      try await operation()
    } catch let error as MagicError {
      switch error {
      case .missingTarget, .conflict, .notSaved, .unsavedChanges, .notFound:
        errors["\(error)".prefix { $0 != "(" }.description, default: 0] += 1
      default: throw error
      }
    } catch AssetError.noAsset {
      // The content was replaced or removed while it was read.
      errors["noAsset", default: 0] += 1
    }
  }

  private mutating func operation() async throws {
    switch Int.random(in: 0..<22, using: &random) {
    case 0, 1: set(someHub())
    case 2, 3: try await read(someHub())
    case 4: try await magic.update(someHub())
    case 5: try await magic.update(graph.state.withLock { $0.hubs })
    case 6: try await magic.update(someHub(), ifUnchanged: true)
    case 7: try await appendToLazyRelation()
    case 8: try await linkInTransaction()
    case 9: try await linkByFetchedCopy()
    case 10: try await unlink()
    case 11: try await increment()
    case 12: try await incrementInTransaction()
    case 13: try await removeLeaf()
    case 14: try await rollBack()
    case 15: try await readLazily(someHub())
    case 16: try await stream(someHub())
    case 17: try await connectHubs()
    case 18: try await refetch()
    case 19: try await readAssets(someHub())
    case 20: try await insertLeaf()
    default:
      let hub = someHub()
      set(hub)
      try await magic.update(hub)
    }
  }

  // MARK: Reading

  static func check(_ spot: Spot) {
    let (text, tags) = (spot.text, spot.tags)
    let digit = text.first?.wholeNumberValue ?? 0
    let isWhole = text == "0" || text == String(repeating: "\(digit)", count: 10 + digit * 20)
    #expect(isWhole, "\(text)")
    let isTagWhole = tags.allSatisfy { $0 == tags.first } && Int(tags.first ?? "0") == tags.count
    #expect(isTagWhole, "\(tags)")
  }

  private static func check(_ content: Data?) {
    guard let content, let first = content.first else { return }
    let isWhole = content.allSatisfy { $0 == first } && content.count == 1 + Int(first) * 1_000
    #expect(isWhole, "\(first) × \(content.count)")
  }

  private func read(_ spot: Spot) async throws {
    Self.check(spot)
    let related =
      spot.list + spot.set + Array(spot.byName.values) + (spot.one.map { [$0] } ?? [])
    for other in related { Self.check(other) }
    if let owned = spot.one?.one?.list { for other in owned { Self.check(other) } }
    #expect(spot.set.contains { $0.id == "nobody" } == false)
  }

  private func readLazily(_ hub: Spot) async throws {
    for spot in try await hub.lazyList.get() { Self.check(spot) }
    for spot in try await hub.lazySet.objects(limit: 2) { Self.check(spot) }
    for spot in try await hub.lazyByName.get().values { Self.check(spot) }
    _ = try await hub.lazyList.count()
    _ = try await hub.lazySet.randomValue()
    _ = try await hub.lazyByName.value(forKey: "a\(number)")
    if let lazy = hub.lazyOne {
      do {
        Self.check(try await lazy.get())
      } catch MagicError.lostTarget where graph.isRefetching {
        // Another task has set the relation to nil after this one had read the lazy value.
      }
    }
    for owner in try await hub.listOwners.get() { Self.check(owner) }
    _ = try await magic.fetch(hub.listOwners.where(\.$number >= 0).count)
    _ = try await magic.fetch(hub.lazyList.where(\.$number >= 0).count)
  }

  private func stream(_ hub: Spot) async throws {
    for try await spot in try hub.lazyList.stream(batch: 2) { Self.check(spot) }
    for try await (_, spot) in try hub.lazyByName.stream(batch: 1) { Self.check(spot) }
    for try await owner in hub.listOwners { Self.check(owner) }
    try await magic.forEach(Spot.where(\.$number >= 0), batch: 3) { Self.check($0) }
  }

  private func readAssets(_ hub: Spot) async throws {
    Self.check(try await hub.file?.get())
    if let lazy = hub.lazyFile { Self.check(try await lazy.get().get()) }
    if let pieces = try await hub.file?.pieces(of: 100) { for try await _ in pieces {} }
    _ = try hub.file?.size
  }

  // MARK: Changing

  /// Links a new object to a shared one by changes that don't load the relation.
  private mutating func appendToLazyRelation() async throws {
    let (hub, leaf) = (someHub(), newLeaf(isShared: true))
    let hubID = hub.id
    hub.lazyList.append(leaf)
    hub.lazySet.insert(leaf)
    try hub.lazyByName.set(leaf, forKey: leaf.id)
    try await magic.update(hub)
    leaves.append(leaf)
    record([.lazyList, .lazySet, .lazyByName], of: hubID, leaf)
  }

  /// Links a new object to a shared one. All tasks change this property in transactions.
  private mutating func linkInTransaction() async throws {
    let (hub, leaf) = (someHub(), newLeaf(isShared: true))
    let hubID = hub.id
    do {
      try await magic.transaction { [magic] in
        hub.list.append(leaf)
        try magic.update(hub)
      }
    } catch {
      try await magic.transaction { hub.list.removeAll { $0.id == leaf.id } }
      throw error
    }
    leaves.append(leaf)
    record([.list], of: hubID, leaf)
  }

  /// Links a new object by an object of the same row that no other task uses.
  private mutating func linkByFetchedCopy() async throws {
    let (hubID, leaf) = (someHub().id, newLeaf())
    let hub = try await magic.object(of: Spot.self, primary: hubID)
    hub.set.insert(leaf)
    hub.byName[leaf.id] = leaf
    try await magic.update(hub)
    leaves.append(leaf)
    record([.set, .byName], of: hubID, leaf)
  }

  private func record(_ relations: [SpotLink], of hub: String, _ leaf: Spot) {
    let target = leaf.id
    graph.state.withLock { state in
      for relation in relations {
        state.links.insert(.init(hub: hub, relation: relation, target: target))
      }
    }
  }

  /// Removes the link to one of the task's objects from a list.
  private mutating func unlink() async throws {
    let known = graph.state.withLock { state in
      state.links.filter { $0.relation == .list && $0.target.hasPrefix("leaf-\(number)-") }
    }
    guard let link = known.sorted(by: { $0.target < $1.target }).randomElement(using: &random)
    else { return }
    let hub = try await magic.object(of: Spot.self, primary: link.hub)
    hub.list.removeAll { $0.id == link.target }
    // From here on, the link may or may not exist.
    graph.state.withLock { _ = $0.links.remove(link) }
    try await magic.update(hub)
    graph.state.withLock { _ = $0.removedLinks.insert(link) }
  }

  private mutating func increment() async throws {
    let hub = someHub().id
    let count = try await magic.updateAll(Spot.where(\.$id == hub), set: [\.$total += 1])
    #expect(count == 1)
    graph.state.withLock { $0.totals[hub, default: 0] += 1 }
  }

  private mutating func incrementInTransaction() async throws {
    let shared = someHub()
    let id = shared.id
    try await magic.transaction { [magic] in
      let hub = try magic.object(of: Spot.self, primary: id)
      hub.total += 1
      try magic.update(hub)
    }
    graph.state.withLock { $0.totals[id, default: 0] += 1 }
    // The increment is a pending change if the save throws.
    try await magic.transaction { [graph, magic] in
      shared.number += 1
      graph.state.withLock { $0.numbers[id, default: 0] += 1 }
      try magic.update(shared)
    }
  }

  private mutating func removeLeaf() async throws {
    guard let index = leaves.indices.randomElement(using: &random) else { return }
    let leaf = leaves.remove(at: index)
    let id = leaf.id
    graph.state.withLock { state in
      state.links = state.links.filter { $0.target != id }
      state.removedLinks = state.removedLinks.filter { $0.target != id }
    }
    if Bool.random(using: &random) {
      try await magic.remove(leaf)
    } else {
      _ = try await magic.remove(contentsOf: [leaf])
    }
  }

  private mutating func insertLeaf() async throws {
    let leaf = newLeaf()
    try await magic.insert(leaf)
    leaves.append(leaf)
    #expect(try await magic.has(of: Spot.self, primary: leaf.id))
  }

  private struct Rollback: Error {}

  private mutating func rollBack() async throws {
    let leaf = newLeaf()
    leaf.one = someHub()
    await #expect(throws: (any Error).self) {
      try await magic.transaction { [magic] in
        try magic.update(leaf)
        throw Rollback()
      }
    }
    let id = leaf.id
    #expect(try await !magic.has(of: Spot.self, primary: id))
  }

  /// Opens and closes cycles of shared objects.
  private mutating func connectHubs() async throws {
    let (hub, other) = (someHub(), someHub())
    switch Int.random(in: 0..<4, using: &random) {
    case 0: hub.one = nil
    case 1: hub.one = other
    case 2: hub.lazyOne = AsyncMagical(value: other)
    default: hub.lazyOne = nil
    }
    try await magic.update(hub)
  }

  private mutating func refetch() async throws {
    let index = Int.random(in: 0..<Self.hubCount, using: &random)
    let id = graph.hub(index).id
    let fetched = try await magic.object(of: Spot.self, primary: id)
    try await read(fetched)
    guard graph.isRefetching else { return }
    graph.state.withLock { $0.hubs[index] = fetched }
  }
}

/// Runs tasks on more threads than the processor has cores.
private final class ManyThreads: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Eight tasks that do everything with one graph of objects at the same time.
@Suite struct SharedGraphTests {
  private static let isLong = ProcessInfo.processInfo.environment["MAGICDATA_LONG"] == "1"
  private static let steps = isLong ? 100 : 30

  @Test(arguments: seeds(UInt64(1)...(Self.isLong ? 20 : 4)))
  func `eight tasks that share a graph lose nothing that was acknowledged`(
    seed: UInt64
  ) async throws {
    let magic = try await MagicData(type: .memory)
    let graph = SharedGraph(magic, isRefetching: seed.isMultiple(of: 2))
    let hubs = (0..<GraphUser.hubCount).map { Spot("hub-\($0)") }
    try await magic.update(hubs)
    graph.state.withLock { $0.hubs = hubs }
    let observer = Task {
      for try await spots in magic.observe(Spot.where(\.$number >= 0)) {
        for spot in spots { GraphUser.check(spot) }
      }
    }
    let listener = Task {
      for try await _ in magic.changes(of: Spot.self) {
        _ = try await magic.fetch(Spot.all.values(\.$text))
      }
    }
    let executor = ManyThreads()
    let errors = try await withThrowingTaskGroup(of: [String: Int].self) { group in
      for number in 0..<8 {
        group.addTask(executorPreference: executor) {
          var user = GraphUser(graph, number, seed: seed)
          for _ in 0..<Self.steps { try await user.step() }
          return user.errors
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
    observer.cancel()
    listener.cancel()
    try? await observer.value
    try? await listener.value
    if Self.isLong { print("seed \(seed): \(8 * Self.steps) operations, \(errors)") }
    try await check(graph)
    try await magic.close()
  }

  /// Compares the store with the changes that were acknowledged and with the shared objects.
  private func check(_ graph: SharedGraph) async throws {
    let magic = graph.magic
    let state = graph.state.withLock { $0 }
    try await magic.update(state.hubs)
    let found = try await magic.fetch(Spot.all)
    for spot in found { GraphUser.check(spot) }
    let spots = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
    for hub in state.hubs {
      let stored = try #require(spots[hub.id])
      #expect(stored.total == state.totals[hub.id] ?? 0)
      if !graph.isRefetching {
        #expect(stored.number == state.numbers[hub.id] ?? 0)
        #expect(stored.number == hub.number)
        #expect(stored.text == hub.text)
        #expect(stored.tags == hub.tags)
        #expect(stored.one?.id == hub.one?.id)
        #expect(try await stored.lazyOne?.get().id == hub.lazyOne?.get().id)
        #expect(try await stored.file?.data() == hub.file?.data())
        #expect(try await stored.lazyFile?.get().data() == hub.lazyFile?.get().data())
      }
      for relation in SpotLink.allCases {
        let targets = try await relation.targets(of: stored)
        let saved = state.links.filter { $0.hub == hub.id && $0.relation == relation }
        #expect(targets.isSuperset(of: saved.map(\.target)), "\(relation) of \(hub.id)")
        let removed = state.removedLinks.filter { $0.hub == hub.id && $0.relation == relation }
        #expect(targets.isDisjoint(with: removed.map(\.target)), "\(relation) of \(hub.id)")
      }
    }
    #expect(try magic.violations() == 0)
    let problems = try await magic.database.read { connection in
      try connection.rows("PRAGMA integrity_check", as: String.self)
    }
    #expect(problems == ["ok"])
    #expect(try await magic.assets.verify().isEmpty)
  }
}
