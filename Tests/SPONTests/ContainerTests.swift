import Foundation
import SPON
import Testing

@Suite struct ContainerTests {
  @Test func `containers that are filled alternately keep their own values`() throws {
    struct Columns: Codable, Equatable {
      var rows: [[Int]]

      init(rows: [[Int]]) { self.rows = rows }

      func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        var first = object.nestedUnkeyedContainer(forKey: Name("first"))
        try object.encode(rows.count, forKey: Name("count"))
        var second = object.nestedContainer(keyedBy: Name.self, forKey: Name("second"))
        for (index, row) in rows.enumerated() {
          try first.encode(row[0])
          try second.encode(row[1], forKey: Name("\(index)"))
        }
      }

      init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Name.self)
        var first = try object.nestedUnkeyedContainer(forKey: Name("first"))
        let second = try object.nestedContainer(keyedBy: Name.self, forKey: Name("second"))
        rows = []
        for index in 0..<(try object.decode(Int.self, forKey: Name("count"))) {
          rows.append([
            try first.decode(Int.self), try second.decode(Int.self, forKey: Name("\(index)")),
          ])
        }
      }
    }
    let value = ["a": [Columns(rows: [[1, 2], [3, 4]]), Columns(rows: [])]]
    let text = try SPONEncoder().encodeText(value)
    #expect(
      text
        == "@obj:Dictionary<a=@array[@obj:Columns<first=@array[1!, 3!] count!=`2` "
        + "second=@obj<0!=`2` 1!=`4`>>, @obj:Columns<first=@array[] count!=`0` second=@obj<>>]>")
    #expect(try SPONDecoder().decode([String: [Columns]].self, from: text) == value)
  }

  class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
  }

  final class Dog: Animal {
    var age: Int
    init(name: String, age: Int) {
      self.age = age
      super.init(name: name)
    }
    enum CodingKeys: CodingKey { case age }
    required init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: CodingKeys.self)
      age = try object.decode(Int.self, forKey: .age)
      try super.init(from: object.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: object.superEncoder())
      try object.encode(age, forKey: .age)
    }
  }

  /// A class that shares the object with its superclass.
  final class Cat: Animal {
    var lives: Int
    init(name: String, lives: Int) {
      self.lives = lives
      super.init(name: name)
    }
    enum CodingKeys: CodingKey { case lives }
    required init(from decoder: any Decoder) throws {
      lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var object = encoder.container(keyedBy: CodingKeys.self)
      try object.encode(lives, forKey: .lives)
    }
  }

  @Test func `a superclass is encoded in a member or in the same object`() throws {
    let dogs = try SPONEncoder().encodeText([Dog(name: "Rex", age: 3)])
    #expect(dogs == "@array[@obj:Dog<super=@obj<name$=`Rex`> age!=`3`>]")
    #expect(try SPONDecoder().decode([Dog].self, from: dogs)[0].name == "Rex")
    let cat = try SPONEncoder().encodeText(Cat(name: "Tom", lives: 7))
    #expect(cat == "@obj:Cat<name$=`Tom` lives!=`7`>")
    #expect(try SPONDecoder().decode(Cat.self, from: cat).name == "Tom")
  }

  struct Failing: Encodable {
    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: Name.self)
      try object.encode(1, forKey: Name("begun"))
      throw CancellationError()
    }
  }

  @Test func `a member that fails to encode leaves no partial output`() throws {
    struct Lenient: Encodable {
      func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        try object.encode(1, forKey: Name("a"))
        try? object.encode(Failing(), forKey: Name("b"))
        try? object.encode([Failing()], forKey: Name("b"))
        try object.encode(2, forKey: Name("b"))
      }
    }
    #expect(try SPONEncoder().encodeText(Lenient()) == "@obj:Lenient<a!=`1` b!=`2`>")
    #expect(throws: CancellationError.self) { try SPONEncoder().encode(Failing()) }
  }

  @Test func `invalid use of containers throws`() throws {
    struct Wrong: Encodable {
      let use: @Sendable (any Encoder) throws -> Void
      func encode(to encoder: any Encoder) throws { try use(encoder) }
    }
    let uses: [@Sendable (any Encoder) throws -> Void] = [
      { encoder in
        _ = encoder.container(keyedBy: Name.self)
        _ = encoder.unkeyedContainer()
      },
      { encoder in
        var value = encoder.singleValueContainer()
        try value.encode(1)
        try value.encode(2)
      },
      { encoder in
        var object = encoder.container(keyedBy: Name.self)
        try object.encode(1, forKey: Name("a"))
        try object.encode(1, forKey: Name("a"))
      },
    ]
    for use in uses {
      #expect(throws: EncodingError.self) { try SPONEncoder().encode([Wrong(use: use)]) }
    }
    #expect(try SPONEncoder().encodeText([Wrong { _ in }]) == "@array[@obj:Wrong<>]")
  }

  @Test func `user info is passed to nested values`() throws {
    struct Asking: Codable {
      static let key = CodingUserInfoKey(rawValue: "answer")
      init() {}
      init(from decoder: any Decoder) throws {
        #expect(try decoder.userInfo[#require(Self.key)] as? Int == 42)
      }
      func encode(to encoder: any Encoder) throws {
        #expect(try encoder.userInfo[#require(Self.key)] as? Int == 42)
        #expect(encoder.codingPath.map(\.stringValue) == ["a", "Index 0"])
      }
    }
    var encoder = SPONEncoder()
    var decoder = SPONDecoder()
    try encoder.userInfo[#require(Asking.key)] = 42
    try decoder.userInfo[#require(Asking.key)] = 42
    _ = try decoder.decode([String: [Asking]].self, from: encoder.encode(["a": [Asking()]]))
  }
}
