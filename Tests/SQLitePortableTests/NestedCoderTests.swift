import SQLiteCore
import SQLiteMapping
import SQLitePortable
import Testing

@Suite struct NestedCoderTests {
  /// A record that encodes a property with nested containers.
  private struct Place: Record, Equatable {
    enum CodingKeys: CodingKey { case id, position }
    enum PositionKeys: CodingKey { case latitude, names }

    @TaskLocal static var nested = NestedStrategy.text

    static var strategies: MappingStrategies {
      var strategies = MappingStrategies()
      strategies.nested = nested
      return strategies
    }

    var id: Int
    var latitude: Double
    var names: [String]

    init(id: Int, latitude: Double, names: [String]) {
      (self.id, self.latitude, self.names) = (id, latitude, names)
    }

    init(from decoder: any Decoder) throws {
      let row = try decoder.container(keyedBy: CodingKeys.self)
      id = try row.decode(Int.self, forKey: .id)
      let position = try row.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
      latitude = try position.decode(Double.self, forKey: .latitude)
      var list = try position.nestedUnkeyedContainer(forKey: .names)
      names = []
      while !list.isAtEnd { names.append(try list.decode(String.self)) }
    }

    func encode(to encoder: any Encoder) throws {
      var row = encoder.container(keyedBy: CodingKeys.self)
      try row.encode(id, forKey: .id)
      var position = row.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
      try position.encode(latitude, forKey: .latitude)
      var list = position.nestedUnkeyedContainer(forKey: .names)
      for name in names { try list.encode(name) }
    }
  }

  @Test(arguments: 0..<4)
  func `every coder stores a value that is encoded with nested containers`(number: Int) throws {
    let strategy = [NestedStrategy.text, .blob, .spon, .coder(JSONCoder())][number]
    try Place.$nested.withValue(strategy) {
      let database = try Database.memory()
      let places = [
        Place(id: 1, latitude: 47.5, names: ["Bern", "Berne", "\"B\""]),
        Place(id: 2, latitude: -0.25, names: []),
      ]
      try database.write { connection in for place in places { try connection.update(place) } }
      #expect(try database.read { try $0.objects(of: Place.self) } == places)
    }
  }
}
