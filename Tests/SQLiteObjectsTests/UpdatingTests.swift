import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Article: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$title), .unique(\Self.$code)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var stock: Int
  @MagicValue var small: Int8
  @MagicValue var price: Double
  @MagicValue var cost: Decimal
  @OptionalMagicValue var code: Int?
  @OptionalMagicValue var note: String?
  @OptionalMagicValue var soldAt: Date?
  @OptionalMagicValue var group: Group?
  @OptionalMagicValue var photo: MagicAsset<Data>?
  @MagicValue var parts: [Group]
  init() {
    (title, stock, small, price, cost, parts) = ("", 0, 0, 0, 0, [])
  }
  init(_ title: String, stock: Int = 0, price: Double = 0) {
    self.init()
    (self.title, self.stock, self.price) = (title, stock, price)
  }
}

private struct Group: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var bonus: Int
  @OptionalMagicValue var next: Group?
  init() { bonus = 0 }
  init(_ name: String, _ bonus: Int) { (self.name, self.bonus) = (name, bonus) }
}

private struct Chained: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var value: Int
  @OptionalMagicValue var before: Chained?
  init() { value = 0 }
  init(_ value: Int, before: Chained?) { (self.value, self.before) = (value, before) }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct UpdatingTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData.fresh()
    try magic.update([
      Article("a", stock: 3, price: 10), Article("b", stock: 0, price: 20),
      Article("c", stock: 7, price: 30),
    ])
  }

  private func all() throws -> [Article] { try magic.objects(of: Article.self) }

  @Test func `updateAll changes the properties of matching objects`() async throws {
    let count = try await magic.updateAll(
      Article.where(\.$stock > 0), set: [\.$stock -= 1, \.$price *= 1.5, \.$title += "!"])
    #expect(count == 2)
    let found = try await magic.objects(of: Article.self)
    #expect(found.map(\.stock) == [2, 0, 6])
    #expect(found.map(\.price) == [15, 20, 45])
    #expect(found.map(\.title) == ["a!", "b", "c!"])
    let blocking = {
      try magic.updateAll(Article.all, set: [\.$stock /= 2, .set(\.$note, to: "x")])
    }
    #expect(try blocking() == 3)
    #expect(try all().map(\.stock) == [1, 0, 3])
    #expect(try all().map(\.note) == ["x", "x", "x"])
  }

  @Test func `all values are computed from the values before the update`() throws {
    try magic.updateAll(
      Article.all,
      set: [\.$stock += 100, .set(\.$code, to: \.$stock), .set(\.$price, to: \.$price * 2)])
    #expect(try all().map(\.code) == [3, 0, 7])
    #expect(try all().map(\.stock) == [103, 100, 107])
  }

  @Test func `values read through relations are from before the update, even in chains`() throws {
    let first = Chained(1, before: nil)
    let second = Chained(2, before: first)
    let third = Chained(4, before: second)
    try magic.update([third, second, first])
    #expect(
      try magic.updateAll(Chained.where(\.$before != nil), set: [\.$value += \.$before.$value]) == 2
    )
    let values = try magic.objects(of: Chained.self, orderedBy: [.ascending(\.$value)]).map(\.value)
    #expect(values == [1, 3, 6])
  }

  @Test func `relations and nil can be assigned, and the target must be saved`() throws {
    let group = Group("g", 5)
    #expect(throws: MagicError.notSaved(type: "Group")) {
      try magic.updateAll(Article.all, set: [.set(\.$group, to: group)])
    }
    try magic.update(group)
    try magic.updateAll(Article.where(\.$stock > 0), set: [.set(\.$group, to: group)])
    #expect(try all().map { $0.group?.name } == ["g", nil, "g"])
    try magic.updateAll(Article.where(\.$title == "a"), set: [.set(\.$group, to: nil)])
    #expect(try all().map { $0.group?.name } == [nil, nil, "g"])
    try magic.updateAll(Article.where(\.$group != nil), set: [\.$stock += \.$group.$bonus])
    #expect(try all().map(\.stock) == [3, 0, 12])
  }

  @Test func `assigning a removed object throws an error that names it`() throws {
    let group = Group("g", 5)
    let key = try magic.update(group)
    try magic.removeAll(Group.all)
    #expect(throws: MagicError.missingTarget(type: "Group", zIndex: Int64(key))) {
      try magic.updateAll(Article.all, set: [.set(\.$group, to: group)])
    }
    #expect(try all().allSatisfy { $0.group == nil })
  }

  @Test(.requires(.functions))
  func `decimals are computed exactly`() throws {
    try magic.updateAll(Article.all, set: [.set(\.$cost, to: Decimal(string: "0.1")!)])
    try magic.updateAll(Article.all, set: [\.$cost *= 3])
    try magic.updateAll(Article.all, set: [\.$cost += Decimal(string: "0.00000000000000000001")!])
    #expect(try all().first?.cost == Decimal(string: "0.30000000000000000001"))
  }

  @Test func `a number out of a property's range throws and changes nothing`() throws {
    #expect(
      try magic.updateAll(Article.where(\.$title == "c"), set: [.set(\.$stock, to: .max)])
        == 1)
    let error = #expect(throws: SQLiteError.self) {
      try magic.updateAll(Article.all, set: [\.$stock += 1])
    }
    #expect(
      error?.message == "the calculated number does not fit “stock”, whose range is "
        + "-9223372036854775808 to 9223372036854775807")
    #expect(try all().map(\.stock) == [3, 0, .max])
    try magic.updateAll(Article.all, set: [\.$small += 100])
    #expect(throws: SQLiteError.self) {
      try magic.updateAll(Article.all, set: [\.$small += 100])
    }
    #expect(throws: SQLiteError.self) {
      try magic.updateAll(Article.all, set: [\.$stock /= 0])
    }
    #expect(throws: SQLiteError.self) {
      try magic.updateAll(Article.all, set: [.set(\.$code, to: 7)])
    }
    #expect(try all().map(\.small) == [100, 100, 100])
    #expect(try all().map(\.code) == [nil, nil, nil])
  }

  @Test func `assignments that updateAll doesn't support throw`() throws {
    let group = Group("g", 1)
    try magic.update(group)
    let assignments: [(String, Assignment<Article>)] = [
      ("id", .set(\.$id, to: 5)), ("id", \.$id += 1), ("parts", .set(\.$parts, to: [group])),
      ("photo", .set(\.$photo, to: MagicAsset(value: Data([1])))),
      ("photo", .set(\.$photo, to: \.$photo)),
    ]
    for (name, assignment) in assignments {
      let error = #expect(throws: MagicError.self) {
        try magic.updateAll(Article.all, set: [assignment])
      }
      #expect(
        error?.description.contains(name) == true || error?.description.contains("Article") == true)
    }
    #expect(throws: MagicError.self) {
      try magic.updateAll(Article.all, set: [\.$stock += 1, \.$stock += 1])
    }
    #expect(try magic.updateAll(Article.all, set: []) == 0)
    #expect(try magic.updateAll(Chained.all, set: [\.$value += 1]) == 0)
  }

  @Test func `updateAll and removeAll update the search index and the assets`() throws {
    let first = try #require(try all().first)
    first.photo = MagicAsset(value: Data(count: 100))
    try magic.update(first)
    try magic.updateAll(Article.where(\.$title == "a"), set: [.set(\.$title, to: "fresh milk")])
    #expect(try magic.fetch(Article.all.search(.all(of: "milk"))).map(\.value.id) == [1])
    try magic.updateAll(Article.all, set: [.set(\.$photo, to: nil)])
    let assets = try magic.database.read {
      try $0.firstRow("SELECT count(*) FROM magicdata_asset", as: Int.self)
    }
    #expect(assets == 0)
    #expect(try magic.removeAll(Article.where(.matching(.all(of: "milk")))) == 1)
    #expect(try magic.fetch(Article.all.search(.all(of: "milk"))).isEmpty)
  }

  @Test func `fetched objects keep their values, and conflicts are detected`() throws {
    let first = try #require(try all().first)
    try magic.updateAll(Article.all, set: [\.$stock += 10])
    #expect(first.stock == 3)
    first.note = "mine"
    #expect(throws: MagicError.conflict(type: "Article", zIndex: 1)) {
      try magic.update(first, ifUnchanged: true)
    }
    try magic.update(first)
    let now = try magic.object(of: Article.self, primary: 1)
    #expect((now.stock, now.note) == (13, "mine"))
    try magic.removeAll(Article.where(\.$id == 1))
    #expect(throws: MagicError.conflict(type: "Article", zIndex: 1)) {
      try magic.update(now, ifUnchanged: true)
    }
  }

  @Test func `updateAll is observed and is rolled back with its transaction`() async throws {
    struct Undo: Error {}
    var total = magic.observe(Article.all.aggregate(.sum(\.$stock))).makeAsyncIterator()
    #expect(try await total.next() == 10)
    await #expect(throws: Undo.self) {
      try await magic.transaction {
        try magic.updateAll(Article.all, set: [\.$stock += 1])
        throw Undo()
      }
    }
    try await magic.updateAll(Article.all, set: [\.$stock += 5])
    #expect(try await total.next() == 25)
    try await magic.removeAll(Article.where(\.$stock > 5))
    #expect(try await total.next() == 5)
  }

  @Test func `concurrent increments are never lost`() async throws {
    let magic = magic
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await magic.updateAll(Article.where(\.$id == 2), set: [\.$stock += 1])
        }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.object(of: Article.self, primary: 2).stock == 20)
  }

  @Test(arguments: ["'", "\"; DROP TABLE Article --", "a\0b", "", "?", "é\u{301}"])
  func `hostile strings are treated as values`(text: String) throws {
    let text = Engine.text(text)
    #expect(
      try magic.updateAll(Article.where(\.$title == text), set: [.set(\.$note, to: text)])
        == 0)
    try magic.updateAll(Article.all, set: [.set(\.$note, to: text), \.$title += text])
    #expect(try all().map(\.note) == [text, text, text])
    #expect(try all().map(\.title) == ["a\(text)", "b\(text)", "c\(text)"])
  }

  @Test func `random updates have the same results as in memory`() throws {
    var random = SplitMix64(seed: 20_261_122)
    var models = (1...40).map { (id: $0, value: $0 % 7, note: $0 % 3 == 0 ? nil : "\($0 % 5)") }
    try magic.removeAll(Article.all)
    try magic.update(
      models.map { model in
        let article = Article("x", stock: model.value)
        article.id = model.id
        article.note = model.note
        return article
      })
    for number in 0..<(Engine.current == .cluster ? 100 : 500) {
      let (a, b) = (Int.random(in: -5...15, using: &random), Int.random(in: -3...3, using: &random))
      let text = "\(Int.random(in: 0...5, using: &random))"
      let (filter, holds): (Filter<Article>, (Int, String?) -> Bool) =
        switch number % 4 {
        case 0: (\.$stock > a, { value, _ in value > a })
        case 1: (\.$note != text, { _, note in note != text })
        case 2: (\.$note == nil || \.$stock < a, { value, note in note == nil || value < a })
        default: (!(\.$note == text), { _, note in note != text })
        }
      let (assignment, change): (Assignment<Article>, (Int) -> Int) =
        switch number % 5 {
        case 0: (\.$stock += b, { $0 + b })
        case 1: (\.$stock -= b, { $0 - b })
        case 2: (\.$stock *= b, { $0 * b })
        case 3: (.set(\.$stock, to: a), { _ in a })
        default: (\.$stock /= 3, { $0 / 3 })
        }
      // Keeps products small.
      try magic.updateAll(
        Article.where(\.$stock > 1000 || \.$stock < -1000), set: [.set(\.$stock, to: 1)])
      for index in models.indices where abs(models[index].value) > 1000 { models[index].value = 1 }
      let expected = models.count { holds($0.value, $0.note) }
      for index in models.indices where holds(models[index].value, models[index].note) {
        models[index].value = change(models[index].value)
      }
      let count = try magic.updateAll(Article.where(filter), set: [assignment])
      try #require(count == expected, "update \(number)")
      try #require(try all().map(\.stock) == models.map(\.value), "update \(number)")
    }
  }
}
