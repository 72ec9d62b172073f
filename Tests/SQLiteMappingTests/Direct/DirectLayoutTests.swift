import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

/// Promises that are not kept, each of them found out.
@Suite(.everyEngine) struct DirectLayoutTests {
  struct Swapped: DirectRecord {
    static let prototype: Swapped? = Swapped(id: 0, one: "", two: "")
    static var directColumns: [DirectColumn<Swapped>] {
      [.init("id", \.id), .init("one", \.two), .init("two", \.one)]
    }
    var id: Int
    var one: String
    var two: String
  }

  struct Incomplete: DirectRecord {
    static let prototype: Incomplete? = Incomplete(id: 0, name: "")
    static var directColumns: [DirectColumn<Incomplete>] { [.init("id", \.id)] }
    var id: Int
    var name: String
  }

  struct Surplus: DirectRecord {
    enum CodingKeys: CodingKey { case id }
    static let prototype: Surplus? = Surplus(id: 0)
    static var directColumns: [DirectColumn<Surplus>] {
      [.init("id", \.id), .init("name", \.name)]
    }
    var id: Int
    var name = ""
  }

  struct Observed: DirectRecord {
    static let prototype: Observed? = Observed(id: 0, name: "")
    static var directColumns: [DirectColumn<Observed>] {
      [.init("id", \.id), .init("name", \.name)]
    }
    var id: Int
    var name: String { didSet { name = String(name.prefix(3)) } }
  }

  struct Computed: DirectRecord {
    enum CodingKeys: String, CodingKey { case id, stored = "name" }
    static let prototype: Computed? = Computed(id: 0, stored: "")
    static var directColumns: [DirectColumn<Computed>] {
      [.init("id", \.id), .init("name", \.name)]
    }
    var id: Int
    var stored: String
    var name: String {
      get { stored }
      set { stored = newValue }
    }
  }

  final class Instance: DirectRecord {
    static var prototype: Instance? { Instance() }
    static var directColumns: [DirectColumn<Instance>] { [.init("id", \.id)] }
    var id = 0
  }

  struct Shared: DirectRecord {
    static let prototype: Shared? = Shared(id: 0, name: "")
    static var directColumns: [DirectColumn<Shared>] {
      [.init("id", \.id), .init("name", \.name), .init("id", \.id)]
    }
    var id: Int
    var name: String
  }

  struct Validating: DirectRecord {
    static let prototype: Validating? = Validating(id: 0, age: 1)
    static var directColumns: [DirectColumn<Validating>] {
      [.init("id", \.id), .init("age", \.age)]
    }
    var id: Int
    var age: Int

    init(id: Int, age: Int) {
      self.id = id
      self.age = age
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      age = try container.decode(Int.self, forKey: .age)
      guard age >= 0 else {
        throw DecodingError.dataCorruptedError(
          forKey: .age, in: container, debugDescription: "nobody is that young")
      }
    }
  }

  struct Normalizing: DirectRecord {
    static let prototype: Normalizing? = Normalizing(id: 0, name: "")
    static var directColumns: [DirectColumn<Normalizing>] {
      [.init("id", \.id), .init("name", \.name)]
    }
    var id: Int
    var name: String

    init(id: Int, name: String) {
      self.id = id
      self.name = name
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      name = try container.decode(String.self, forKey: .name).uppercased()
    }
  }

  struct Derived: DirectRecord {
    static let prototype: Derived? = Derived(id: 0, width: 0, area: 0)
    static var directColumns: [DirectColumn<Derived>] {
      [.init("id", \.id), .init("width", \.width), .init("area", \.area)]
    }
    var id: Int
    var width: Int
    var area: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(width, forKey: .width)
      try container.encode(width * width, forKey: .area)
    }
  }

  struct WithoutPrototype: DirectRecord {
    static var directColumns: [DirectColumn<WithoutPrototype>] { [.init("id", \.id)] }
    var id: Int
  }

  struct WithoutExample: DirectRecord {
    static let prototype: WithoutExample? = WithoutExample(id: 0, tags: [])
    static var directColumns: [DirectColumn<WithoutExample>] {
      [.init("id", \.id), .init("tags", \.tags)]
    }
    var id: Int
    var tags: [String]
  }

  /// Passes all proofs, and lies about one value.
  struct Liar: DirectRecord {
    static let prototype: Liar? = Liar(id: 0, name: "")
    static var directColumns: [DirectColumn<Liar>] { [.init("id", \.id), .init("name", \.name)] }
    var id: Int
    var name: String

    init(id: Int, name: String) {
      self.id = id
      self.name = name
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let name = try container.decode(String.self, forKey: .name)
      self.name = name == "secret" ? "hidden" : name
    }
  }

  private func refusal<Value: DirectRecord>(_ value: Value) throws -> DirectRecordError? {
    let database = try Database.fresh()
    let error = #expect(throws: DirectRecordError.self) {
      try database.write { try $0.insert(value) }
    }
    #expect(try database.read { try $0.count(of: Value.self) } == 0)
    return error
  }

  @Test func `properties that are swapped are found out`() throws {
    #expect(try refusal(Swapped(id: 1, one: "", two: ""))?.property == "one")
  }

  @Test func `a property that is not listed is named`() throws {
    #expect(try refusal(Incomplete(id: 1, name: ""))?.message.contains("“name”") == true)
  }

  @Test func `a property that is not encoded is named`() throws {
    #expect(try refusal(Surplus(id: 1))?.property == "name")
  }

  @Test func `a property that is listed twice is refused`() throws {
    #expect(try refusal(Shared(id: 1, name: ""))?.property == "id")
  }

  @Test func `observers, computed properties and objects are refused`() throws {
    #expect(try refusal(Observed(id: 1, name: ""))?.property == "name")
    #expect(try refusal(Computed(id: 1, stored: ""))?.property == "name")
    #expect(try refusal(Instance())?.property == "id")
  }

  @Test func `a type that checks its values is found out by a value that it refuses`() throws {
    let error = try refusal(Validating(id: 1, age: 5))
    #expect(error?.property == "age")
    #expect(error?.message.contains("nobody is that young") == true)
  }

  @Test func `a type that changes what it reads is found out`() throws {
    #expect(try refusal(Normalizing(id: 1, name: "X"))?.property == "name")
  }

  @Test func `a column that is derived from another property is found out`() throws {
    #expect(try refusal(Derived(id: 1, width: 0, area: 0))?.property == "width")
  }

  @Test func `a type needs a prototype, and examples for types of its own`() throws {
    #expect(try refusal(WithoutPrototype(id: 1))?.message.contains("prototype") == true)
    #expect(try refusal(WithoutExample(id: 1, tags: []))?.property == "tags")
  }

  @Test func `reading proves too`() throws {
    let database = try Database.fresh()
    try database.executeMultipleChanges(
      "CREATE TABLE Swapped (id INTEGER PRIMARY KEY, one TEXT, two TEXT); INSERT INTO Swapped VALUES (1, 'a', 'b')"
    )
    #expect(throws: DirectRecordError.self) {
      try database.read { try $0.objects(of: Swapped.self) }
    }
    #expect(throws: DirectRecordError.self) {
      try database.read { try $0.object(of: Swapped.self, ifPresent: 1) }
    }
    #expect(throws: DirectRecordError.self) {
      try database.read { try $0.objects(of: Swapped.self, sql: "SELECT * FROM Swapped") }
    }
  }

  @Test(arguments: [1, 2, 4, 8, 1_024])
  func `rows are read both ways at the powers of two`(row: Int) throws {
    let database = try Database.fresh()
    let liars = (1...2_000).map { Liar(id: $0, name: $0 == row ? "secret" : "x") }
    try database.write { try $0.insert(contentsOf: liars) }
    let error = #expect(throws: DirectRecordError.self) {
      try database.read { try $0.objects(of: Liar.self, orderedBy: .column("id")) }
    }
    #expect(error?.property == "name")
  }
}
