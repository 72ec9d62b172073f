import Foundation
import SQLiteCore
import SQLitePortable
import Testing
import TestSupport

/// Tests the import of data that SwiftDatabase saved. According to its source, that is a dictionary
/// of tables, encoded with the user's encoder, whose items are arrays, encoded with a default one.
@Suite struct ImportingTests {
  struct Person: Codable, Hashable {
    var id: Int
    var name: String
    var born: Date
    var weight: Double?
    var tags: [String: [Int]]
  }

  enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case none
  }

  struct OldTable: Codable {
    var typeDescription: String
    var data: Data?
  }

  static let people = [
    Person(
      id: .max, name: #"A "quoted" \ [name], with {braces}, é and \u{1F600}\n"#,
      born: Date(timeIntervalSinceReferenceDate: 0.1), weight: 0.1, tags: ["a,b": [1, 2], "]": []]),
    Person(id: .min, name: "", born: .distantPast, weight: nil, tags: [:]),
  ]

  /// Returns data in the format of SwiftDatabase.
  static func saved(
    _ encoder: JSONEncoder = JSONEncoder(), _ itemEncoder: JSONEncoder = JSONEncoder()
  ) throws -> Data {
    try encoder.encode([
      "Person": OldTable(typeDescription: "Array<Person>", data: itemEncoder.encode(people)),
      "person": OldTable(typeDescription: "Array<Person>", data: itemEncoder.encode([people[1]])),
      "Shape": OldTable(
        typeDescription: "Array<Shape>",
        data: itemEncoder.encode([Shape.circle(radius: 1e300), .none])),
      "Int": OldTable(typeDescription: "Array<Int>", data: itemEncoder.encode([1, Int.max, -5])),
      "Text": OldTable(
        typeDescription: "Array<String>", data: itemEncoder.encode(["a,b", "[", ""])),
      "Nothing": OldTable(typeDescription: "", data: nil),
      "None": OldTable(typeDescription: "Array<Person>", data: Data("[ ]".utf8)),
    ])
  }

  private func check(_ store: CodableStore) throws {
    #expect(
      try store.tableNames() == ["Int", "None", "Nothing", "Person", "Shape", "Text", "person"])
    #expect(try store.read() == Self.people)
    #expect(try store.read(from: "person") == [Self.people[1]])
    #expect(try store.read() == [Shape.circle(radius: 1e300), .none])
    #expect(try store.read() == [1, Int.max, -5])
    #expect(try store.read(from: "Text") == ["a,b", "[", ""])
    #expect(try store.count(of: Person.self, in: "None") == 0)
  }

  @Test func `all tables and items are imported and can be searched and changed`() throws {
    let store = try CodableStore(importing: Self.saved())
    try check(store)
    var changed = Self.people[0]
    #expect(try store.update(item: changed) == 1)
    changed.name = "other"
    #expect(try store.update(item: changed) == 0)
    #expect(try store.delete(item: Self.people[1]) == 1)
    try store.insert(item: changed)
    #expect(try store.read() == [Self.people[0], changed])
  }

  @Test func `an imported store can be saved and then uses JSON`() throws {
    let folder = try TestFolder()
    let url = URL(filePath: folder.file("store"))
    try CodableStore(importing: Self.saved()).save(to: url)
    let store = try CodableStore(path: url.path, coder: JSONCoder())
    try check(store)
    try store.database.close()
    let other = try CodableStore(path: url.path)
    #expect {
      let _: [Person] = try other.read()
    } throws: { error in
      if case CodableStoreError.undecodable = error { true } else { false }
    }
    try other.database.close()
  }

  @Test func `the document can use custom coders, indentation and bytes as numbers`()
    throws
  {
    let (encoder, decoder, itemEncoder) = (JSONEncoder(), JSONDecoder(), JSONEncoder())
    encoder.dataEncodingStrategy = .deferredToData
    encoder.keyEncodingStrategy = .convertToSnakeCase
    decoder.dataDecodingStrategy = .deferredToData
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    itemEncoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let saved = try Self.saved(encoder, itemEncoder)
    try check(CodableStore(importing: saved, decoder: decoder))
    #expect(throws: CodableStoreError.self) { try CodableStore(importing: saved) }
  }

  @Test(arguments: [
    "", "{", "[]", "7", #"{"Person":7}"#, #"{"Person":{"data":"no base64!"}}"#,
    // In base64: {"a":1}, 7, [1,, [1 and bytes that are not UTF-8.
    #"{"Person":{"data":"eyJhIjoxfQ=="}}"#, #"{"Person":{"data":"Nw=="}}"#,
    #"{"Person":{"data":"WzEsLA=="}}"#, #"{"Person":{"data":"WzE="}}"#,
    #"{"Person":{"data":"WyL/Il0="}}"#, #"{"Person":{"data":""}}"#,
  ])
  func `data that SwiftDatabase didn't save throws`(text: String) {
    let error = #expect(throws: CodableStoreError.self) {
      try CodableStore(importing: Data(text.utf8))
    }
    guard case .notAStore = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `loading or setting SwiftDatabase data throws an error that names the import`() throws
  {
    let folder = try TestFolder()
    let url = URL(filePath: folder.file("old"))
    try Self.saved().write(to: url)
    let store = try CodableStore()
    for load in [{ try store.load(from: url) }, { try store.set(data: Self.saved()) }] {
      let error = #expect(throws: CodableStoreError.self) { try load() }
      #expect("\(error.map { "\($0)" } ?? "")".contains("CodableStore(importing:)"))
    }
  }
}
