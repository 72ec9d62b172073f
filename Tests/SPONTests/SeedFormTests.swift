import Foundation
import SPON
import Testing

/// Tests the output of the first SPON implementation, including the texts that it couldn't decode.
@Suite struct SeedFormTests {
  struct Address: Codable, Equatable {
    var addr1 = ""
    var addr2 = ""
    var city = ""
    var state = ""
    var zip = ""
  }

  @Test func `the example of the first implementation is decoded`() throws {
    let text =
      "@obj:Address<state$=`TX` city$=`Seabrook` addr1$=`25 Nasa Rd 1` zip$=`77586` addr2$=`Apt #123`>"
    let address = try SPONDecoder().decode(Address.self, from: text)
    #expect(
      address
        == Address(
          addr1: "25 Nasa Rd 1", addr2: "Apt #123", city: "Seabrook", state: "TX", zip: "77586"))
    #expect(
      try SPONEncoder().encodeText(address)
        == "@obj:Address<addr1$=`25 Nasa Rd 1` addr2$=`Apt #123` city$=`Seabrook` state$=`TX` zip$=`77586`>"
    )
  }

  @Test(arguments: [
    ["a,b"], ["Hi!, there"], ["50%, off"], [","], ["]"], ["see [1]"], ["<b>hi</b>"], ["a[b"],
    ["&01;"], ["&"], ["@obj"], ["@obj<> admin%=`true`"], ["@array["], ["\u{301}"], ["`"], [""],
    ["x]y"], ["x[y"],
  ])
  func `strings in arrays that the first implementation corrupted are preserved`(words: [String])
    throws
  {
    struct Holder: Codable, Equatable {
      var a: [String]
      var b = 3
    }
    let text = try SPONEncoder().encodeText(words)
    #expect(
      try SPONDecoder().decode([String].self, from: text).map { Array($0.utf8) }
        == words.map { Array($0.utf8) })
    let holder = Holder(a: words)
    let object = try SPONEncoder().encodeText(holder)
    #expect(try SPONDecoder().decode(Holder.self, from: object) == holder)
    let keyed = Dictionary(uniqueKeysWithValues: words.map { ($0, 1) })
    #expect(
      try SPONDecoder().decode([String: Int].self, from: SPONEncoder().encodeText(keyed)) == keyed)
  }

  @Test(arguments: ["home addr", "http://a", "a=b", "", "`", "&01;", "cost$", "a>b", "é"])
  func `keys that the first implementation corrupted are preserved`(key: String) throws {
    let value = [key: ["x": 1]]
    let text = try SPONEncoder().encodeText(value)
    #expect(try SPONDecoder().decode([String: [String: Int]].self, from: text) == value)
  }

  @Test func `strings in arrays of the first implementation are decoded as intended`() throws {
    func read(_ text: String) throws -> [String] {
      try SPONDecoder().decode([String].self, from: text)
    }
    #expect(try read("@array[`a,b`]") == ["a,b"])
    #expect(
      try read("@array[`Hi!, there`, `see [1]`, `<b>hi</b>`]") == [
        "Hi!, there", "see [1]", "<b>hi</b>",
      ])
    #expect(
      try read("@array[`50%, off`, `Tom & Jerry`, `it&01;s`]") == [
        "50%, off", "Tom & Jerry", "it`s",
      ])
    #expect(try read("@array[]") == [])
  }

  @Test func `null, dates and unmarked integers of the first implementation are decoded by type`()
    throws
  {
    let decoder = SPONDecoder()
    #expect(try decoder.decode([Int?].self, from: "@array[<null>?, 1!]") == [nil, 1])
    #expect(try decoder.decode([String: Int?].self, from: "@obj<k?=`<null>`>") == ["k": Int?.none])
    #expect(throws: DecodingError.self) {
      try decoder.decode([String: String].self, from: "@obj<k?=`<null>`>")
    }
    let date = Date(timeIntervalSince1970: 1_507_896_000)
    #expect(
      try decoder.decode([String: Date].self, from: "@obj<d?=`2017-10-13 12:00:00 +0000`>") == [
        "d": date
      ])
    #expect(try decoder.decode([Date].self, from: "@array[2017-10-13 12:00:00 +0000?]") == [date])
    #expect(
      try decoder.decode([String: UInt8].self, from: "@obj:Dictionary<n?=`200`>") == ["n": 200])
    #expect(
      try decoder.decode([Int64].self, from: "@array[-5?, 9223372036854775807?]") == [-5, .max])
    #expect(
      try decoder.decode([Double].self, from: "@array[1.5&, 2.5^, 3!, inf&]") == [
        1.5, 2.5, 3, .infinity,
      ])
    #expect(
      try decoder.decode([Data].self, from: "@array[QUJD*, *]") == [Data("ABC".utf8), Data()])
    #expect(try decoder.decode([Bool].self, from: "@array[true%, false%]") == [true, false])
  }

  /// The text, the offset of the error, and a word of its reason.
  @Test(arguments: [
    ("@array[1!, 2!, [1, 2]?, 3!, [3]?]", 15, "truncated nested arrays"),
    ("@obj:D<home addr$=`x`>", 11, "mark"),
    ("@obj:D<http://a$=`x`>", 11, "mark"),
    ("@obj:D<a=b$=`x`>", 9, "@obj"),
    ("@array[@obj]", 11, "<"),
    ("@array[@array[]", 15, "ends"),
    ("5", 1, "mark"),
    ("@obj<a$=`1` a$=`2`>", 12, "twice"),
    ("@obj<`a`$=`1` `&u61;`$=`2`>", 15, "twice"),
    ("@obj<a$=`1`b$=`2`>", 11, "blank"),
    ("@array[1! 2!]", 10, "“,”"),
    ("@array[1!, ]", 11, "value"),
    ("@array[`a`, `&00;`]", 13, "an escape is ambiguous"),
    ("@obj<a$=`x> b$=`", 16, "ends"),
    ("@obj<a$=`x>", 8, "closing one"),
    ("@obj<a$=`x`> trailing", 13, "end of the text"),
    ("@obj<a`=`x`>", 6, "mark"),
    ("", 0, "ends"),
  ])
  func `an invalid text throws an error with its offset`(
    text: String, offset: Int, reason: String
  ) throws {
    let error = #expect(throws: SPONSyntaxError.self) {
      try SPONDecoder().decode([String: String].self, from: text)
    }
    #expect(error?.offset == offset, "\(error as Any)")
    #expect(error?.reason.contains(reason) == true, "\(error as Any)")
  }

  @Test func `an object of the first implementation isn't decoded as a string`() throws {
    let error = #expect(throws: DecodingError.self) {
      try SPONDecoder().decode([String: String].self, from: "@obj<a=@obj<>>")
    }
    #expect("\(error as Any)".contains("first implementation"))
  }
}

extension SeedFormTests {
  enum CategoryType: String, Codable {
    case local
    case web
  }

  /// A model of the first implementation's README, without its protocol.
  final class Category: Codable {
    var id = 0
    var added = Date(timeIntervalSince1970: 1_507_896_000)
    var name = "a`b"
    var enabled = true
    var type: CategoryType = .local
    var icon = Data([1, 2, 3])
  }

  struct Person: Codable, Equatable {
    var id = "F6DEC3CD-DA62-4A08-A2B6-272E62A7F6E3"
    var firstName = ""
    var addresses: [String: Address] = [:]
  }

  @Test func `the models of the first implementation use its markers and are preserved`() throws {
    let category = try SPONEncoder().encodeText(Category())
    #expect(
      category
        == "@obj:Category<id!=`0` added#=`2017-10-13T12:00:00Z` name$=`a&01;b` enabled%=`true` "
        + "type$=`local` icon*=`AQID`>")
    let copy = try SPONDecoder().decode(Category.self, from: category)
    #expect(copy.added == Category().added && copy.type == .local && copy.icon == Data([1, 2, 3]))
    let address = Address(addr1: "PO Box 1234", city: "Houston", state: "TX", zip: "77012")
    let people = [Person(firstName: "Sue", addresses: ["home": address]), Person()]
    let text = try SPONEncoder().encodeText(people)
    #expect(text.hasPrefix("@array[@obj:Person<id$=`F6DEC3CD"))
    #expect(text.contains("addresses=@obj:Dictionary<home=@obj:Address<addr1$=`PO Box 1234` "))
    #expect(try SPONDecoder().decode([Person].self, from: text) == people)
  }

  @Test func `an object with all markers of the first implementation is decoded`() throws {
    struct Everything: Decodable, Equatable {
      var flag: Bool
      var count: Int
      var ratio: Float
      var size: Double
      var bytes: Data
      var text: String
      var when: Date
      var list: [Int]
      var map: [String: [String]]
    }
    let text =
      "@obj:Everything<ratio^=`0.5` flag%=`true` when?=`2017-10-13 12:00:00 +0000` count!=`-3` "
      + "size&=`2.5` bytes*=`AQID` text$=`a <b> [c] = : d, it&01;s & more` list=@array[1!, 2!] "
      + "map=@obj:Dictionary<a=@array[`x`, `y z`] b=@array[]>>"
    #expect(
      try SPONDecoder().decode(Everything.self, from: text)
        == Everything(
          flag: true, count: -3, ratio: 0.5, size: 2.5, bytes: Data([1, 2, 3]),
          text: "a <b> [c] = : d, it`s & more", when: Date(timeIntervalSince1970: 1_507_896_000),
          list: [1, 2], map: ["a": ["x", "y z"], "b": []]))
  }
}
