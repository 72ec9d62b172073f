public import Essentials
import SQLiteCore

extension CodableStore {
  /// Creates a store in memory with the tables of a file that the older library SwiftDatabase
  /// saved.
  ///
  ///     let store = try CodableStore(importing: Data(contentsOf: oldURL))
  ///     try store.save(to: newURL)
  ///     let people: [Person] = try CodableStore(path: newURL.path, coder: JSONCoder()).read()
  ///
  /// SwiftDatabase saves one JSON document, which contains each table as JSON. Items keep their
  /// JSON text, so they aren't decoded here. The new store therefore uses a ``JSONCoder``. Every
  /// store that opens the saved file later must use one, too.
  ///
  /// - Parameters:
  ///   - data: The content of a file that SwiftDatabase saved, or the value of the `data` property
  ///     of a SwiftDatabase database.
  ///   - decoder: The decoder that SwiftDatabase used. It decodes the document, not the items.
  /// - Throws: ``CodableStoreError/notAStore(_:)`` if `data` wasn't saved by SwiftDatabase or can't
  ///   be decoded by `decoder`, or `SQLiteError` if the database in memory can't be written.
  public convenience init(importing data: Data, decoder: JSONDecoder = JSONDecoder()) throws {
    let tables: [String: OlderTable]
    do {
      tables = try decoder.decode([String: OlderTable].self, from: data)
    } catch {
      throw CodableStoreError.notAStore("it was not saved by SwiftDatabase: \(error)")
    }
    try self.init(coder: JSONCoder())
    try database.write { connection in
      for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
        // Keys are computed on the first search for an item, because they depend on its type.
        let entry = try CollectionCatalog(connection: connection).add(name, keys: "none")
        var insert = try connection.statement(
          "INSERT INTO \(identifier: entry.table) (item) VALUES (?)")
        for item in try table.items(of: name) { try insert.run(item) }
      }
    }
  }
}

/// A table in a document that SwiftDatabase saved.
private struct OlderTable: Decodable {
  /// The JSON of an array of items, or nil for an empty table.
  let data: Data?

  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  /// Returns the JSON text of each item. Throws ``CodableStoreError/notAStore(_:)`` if the content
  /// isn't a JSON array.
  func items(of table: String) throws -> [String] {
    guard let data else { return [] }
    let count: Int
    do {
      count = try JSONDecoder().decode([Anything].self, from: data).count
    } catch {
      throw CodableStoreError.notAStore("the table “\(table)” is not a JSON array: \(error)")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CodableStoreError.notAStore("the table “\(table)” is not valid UTF-8")
    }
    let items = Self.elements(of: text.utf8)
    guard items.count == count else {
      throw CodableStoreError.notAStore("the table “\(table)” has unreadable items")
    }
    return items
  }

  /// Splits the text of a valid JSON array into the texts of its elements.
  private static func elements(of array: String.UTF8View) -> [String] {
    var elements: [String] = []
    var element: [UInt8] = []
    var depth = 0
    var isInString = false
    var isEscaped = false
    func add() { elements.append(String(decoding: element, as: UTF8.self)) }
    for byte in array {
      if isInString {
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        element.append(byte)
        continue
      }
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth == 1 { continue }
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        if depth == 0, !element.isEmpty { add() }
      case UInt8(ascii: ",") where depth == 1:
        add()
        element.removeAll(keepingCapacity: true)
        continue
      case UInt8(ascii: "\""): isInString = true
      default: break
      }
      element.append(byte)
    }
    return elements
  }
}
