import Conformance
import MagicData
import Testing
import TestSupport

/// An object with each kind of relation to its own type.
struct Vertex: MagicObject {
  @PrimaryMagicValue var id: String
  @OptionalMagicValue var one: Vertex?
  @MagicValue var list: [Vertex]
  @MagicValue var set: MagicalSet<Vertex>
  @MagicValue var byName: [String: Vertex]
  @MagicValue var lazy: AsyncMagical<[Vertex]>
  @ReverseMagicValue(\Vertex.$list) var listOwners: AsyncReverseMagicSet<Vertex>

  init() {}

  init(id: String) {
    self.id = id
    list = []
    set = []
    byName = [:]
    lazy = AsyncMagical(value: [])
  }
}

/// The expected relations of a vertex, by primary values.
struct GraphModel: Equatable {
  var one: String?
  var list: [String] = []
  var set: Set<String> = []
  var byName: [String: String] = [:]
  var lazy: [String] = []

  init() {}

  /// Creates the model of a vertex's current relations.
  init(_ vertex: Vertex) throws {
    one = vertex.one?.id
    list = vertex.list.map(\.id)
    set = Set(vertex.set.map(\.id))
    byName = vertex.byName.mapValues(\.id)
    lazy = try vertex.lazy.get().map(\.id)
  }

  /// Removes a vertex from all relations.
  mutating func remove(_ id: String) {
    if one == id { one = nil }
    list.removeAll { $0 == id }
    set.remove(id)
    byName = byName.filter { $0.value != id }
    lazy.removeAll { $0 == id }
  }
}

/// A graph in a store, and its expected state.
struct RandomGraph {
  let magic: MagicData
  var models: [String: GraphModel] = [:]
  /// Objects from earlier fetches and saves, which later steps reuse.
  var objects: [String: Vertex] = [:]
  var random: SplitMix64
  var nextID = 0

  init(seed: UInt64) throws {
    magic = try MagicData.fresh()
    random = SplitMix64(seed: seed)
  }

  mutating func step() throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: try create()
    case 2: try remove()
    case 3: try reload()
    default: try link()
    }
  }

  private mutating func some(_ limit: Int) -> [String] {
    let ids = models.keys.sorted()
    guard !ids.isEmpty else { return [] }
    let count = Int.random(in: 0...limit, using: &random)
    return (0..<count).map { _ in ids[Int.random(in: 0..<ids.count, using: &random)] }
  }

  private func object(_ id: String) throws -> Vertex {
    try objects[id] ?? magic.object(of: Vertex.self, primary: id)
  }

  private mutating func create() throws {
    let id = "v\(nextID)"
    nextID += 1
    objects[id] = Vertex(id: id)
    models[id] = GraphModel()
    try change(id)
  }

  private mutating func link() throws {
    guard let id = models.keys.sorted().randomElement(using: &random) else { return }
    try change(id)
  }

  private mutating func change(_ id: String) throws {
    let vertex = try object(id)
    var model = models[id] ?? GraphModel()
    let targets = some(5)
    let others = try targets.map { try object($0) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      vertex.one = others.first
      model.one = targets.first
    case 1:
      vertex.list = others
      model.list = targets
    case 2:
      vertex.set = MagicalSet(others)
      model.set = Set(targets)
    case 3:
      let keys = ["a", "b", "é", "", "e"]
      vertex.byName = Dictionary(uniqueKeysWithValues: zip(keys, others))
      model.byName = Dictionary(uniqueKeysWithValues: zip(keys, targets))
    case 4:
      vertex.lazy.set(others)
      model.lazy = targets
    default:
      // Inserts into the current list if the object is up to date.
      guard let id = targets.first, try GraphModel(vertex) == model else { break }
      let place = Int.random(in: 0...model.list.count, using: &random)
      vertex.list.insert(others[0], at: place)
      model.list.insert(id, at: place)
    }
    models[id] = model
    try magic.update(vertex)
    objects[id] = vertex
  }

  private mutating func remove() throws {
    guard let id = models.keys.sorted().randomElement(using: &random) else { return }
    try magic.remove(object(id))
    models[id] = nil
    for other in models.keys { models[other]?.remove(id) }
    // The removal makes the reused objects out of date.
    objects = [:]
  }

  private mutating func reload() throws {
    objects = [:]
    for vertex in try magic.object(of: Vertex.self) where Bool.random(using: &random) {
      objects[vertex.id] = vertex
    }
  }

  /// Compares the store with the models.
  func check() throws {
    let all = try magic.object(of: Vertex.self)
    let found = Dictionary(uniqueKeysWithValues: try all.map { ($0.id, try GraphModel($0)) })
    #expect(found == models)
    for vertex in all {
      let owners = Set(try vertex.listOwners.get().map(\.id))
      #expect(owners == Set(models.filter { $0.value.list.contains(vertex.id) }.keys))
      #expect(try vertex.listOwners.count() == owners.count)
    }
  }
}

@Suite(.everyEngine) struct RandomGraphTests {
  @Test func `200 random graphs match their models`() throws {
    for seed in seeds(UInt64(1)...(Engine.current == .local ? 200 : 20)) {
      var graph = try RandomGraph(seed: seed)
      for _ in 0..<25 {
        try graph.step()
        #expect(try graph.magic.violations() == 0)
      }
      try graph.check()
    }
  }
}
