package import Foundation
package import MagicData

package struct Author: MagicObject {
  package static var traits: [PropertyTrait] { [.unique(\Self.$email)] }
  @PrimaryMagicValue package var id: Int
  @MagicValue package var name: String
  @MagicValue package var email: String
  @OptionalMagicValue package var age: Int?
  @OptionalMagicValue package var photo: MagicAsset<Data>?
  @MagicValue package var books: [Book] = []
  @MagicValue package var friends: MagicalSet<Author> = []
  package init() {
    name = ""
    email = ""
  }
  package init(_ name: String) {
    self.name = name
    email = "\(name)@x"
  }
}

package struct Book: MagicObject {
  package static var traits: [PropertyTrait] {
    [.searched(\Self.$title), .onDelete(\Self.$shelf, .cascade)]
  }
  @PrimaryMagicValue package var id: String
  @MagicValue package var title: String
  @OptionalMagicValue package var shelf: Shelf?
  @MagicValue package var notes: [String: Note] = [:]
  @MagicValue package var scan = MagicAsset<Data>()
  package init() {
    id = UUID().uuidString
    title = ""
  }
  package init(_ id: String, _ title: String, on shelf: Shelf? = nil) {
    self.id = id
    self.title = title
    self.shelf = shelf
  }
}

package struct Shelf: MagicObject {
  @PrimaryMagicValue package var id: Int
  @MagicValue package var place: String
  package init() { place = "" }
  package init(_ place: String) { self.place = place }
}

package struct Note: MagicObject {
  @MagicValue package var text: String
  package init() { text = "" }
  package init(_ text: String) { self.text = text }
}

/// The rows of all tables that a history records, and the digests of all assets.
package struct Dump: Equatable, CustomStringConvertible {
  package var tables: [String: [String]] = [:]
  package var assets: [String: String] = [:]
  package var found: [String] = []

  package init(_ magic: MagicData) throws {
    var names: [String] = []
    try magic.database.read { connection in
      names = try connection.rows(
        """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
          AND (name NOT LIKE 'magicdata_%' OR name = 'magicdata_asset') AND name NOT LIKE '%_search%'
        """, as: String.self)
      for name in names {
        let columns = try connection.columns(of: name).map(\.name)
        let list = columns.map { "quote(\"\($0)\")" }.joined(separator: " || '|' || ")
        let rows = try connection.rows(
          SQL(unchecked: "SELECT \(list) FROM \"\(name)\" ORDER BY 1"), as: String.self)
        // Omits empty tables, because a table may be created between two dumps.
        if !rows.isEmpty { tables[name] = rows }
      }
    }
    let ids = try magic.database.read { connection in
      names.contains("magicdata_asset")
        ? try connection.rows("SELECT id FROM magicdata_asset", as: AssetID.self) : []
    }
    for id in ids {
      assets["\(id)"] = try magic.assets.open(id).sha256()
    }
    if names.contains("Book") {
      for word in ["alpha", "beta", "gamma", "delta"] {
        found += try magic.fetch(Book.all.search(.prefix(word))).map {
          "\(word) \($0.value.id)"
        }.sorted()
      }
    }
  }

  package var description: String {
    let rows = tables.sorted { $0.key < $1.key }.flatMap { name, rows in
      rows.map { "\(name): \($0)" }
    }
    return (rows + assets.sorted { $0.key < $1.key }.map { "\($0) \($1)" } + found)
      .joined(separator: "\n")
  }
}

extension AssetReader {
  /// Returns the digest of the bytes, after checking them against the row's digest.
  fileprivate func sha256() throws -> String { "\(SHA256.digest(of: try readAll()))" }
}
