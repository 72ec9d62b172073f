import SQLiteCore
import SQLiteMapping

/// All that tells one result of a query from another: the stored forms, which the objects that are made of them
/// share until these are changed.
struct ResultPrint: Sendable {
  private var values: [Value] = []
  private var tables: [Rows] = []

  /// The rows of one type.
  private struct Rows {
    let type: ObjectIdentifier
    var keys: [Int64]
    var forms: [[CellValue.Form]]
    var foundCount = 0
    var links: [Int: FetchedLinks] = [:]
  }

  /// Describes a result of plain values.
  init(values: [Value]) {
    self.values = values
  }

  /// Describes objects with what they lead to, with the contents of their assets.
  ///
  /// - Throws: ``SQLiteError``.
  init(_ fetched: Fetched, _ connection: Connection) throws {
    var assets: [String] = []
    func note(_ storages: [ObjectStorage]) -> [[CellValue.Form]] {
      storages.map { storage in
        let forms = storage.forms
        for (slot, property) in storage.shape.properties.enumerated() where property.role.isAsset {
          if case .stored(.text(let id)) = forms[slot] { assets.append(id) }
        }
        return forms
      }
    }
    switch fetched {
    case .plain(let storages):
      guard let first = storages.first else { return }
      tables.append(
        Rows(
          type: ObjectIdentifier(first.shape.type),
          keys: storages.compactMap { $0.lastIdentity?.zIndex }, forms: note(storages)))
    case .graph(let graph):
      for table in graph.tables {
        tables.append(
          Rows(
            type: ObjectIdentifier(table.shape.type), keys: table.numbers.keys,
            forms: note(table.storages), foundCount: table.foundCount, links: table.links))
      }
    }
    guard !assets.isEmpty else { return }
    // The id of an asset lasts, each content is another file.
    try connection.forEachRow(
      "SELECT id, file FROM magicdata_asset WHERE id IN \(assets) ORDER BY id"
    ) { row in
      values.append(try row.value(at: 0))
      values.append(try row.value(at: 1))
    }
  }

  /// Adds what a search tells besides the objects.
  mutating func add(_ hits: [SearchResult<Int64>]) {
    for hit in hits {
      values += [.integer(hit.value), .real(hit.rank), .text(hit.snippet)]
      for (name, text) in hit.highlights.sorted(by: { $0.key < $1.key }) {
        values += [.text(name), .text(text)]
      }
    }
  }
}

extension ResultPrint: Equatable {
  static func == (left: ResultPrint, right: ResultPrint) -> Bool {
    left.values == right.values && left.tables.elementsEqual(right.tables, by: isSame)
  }

  private static func isSame(_ left: Rows, _ right: Rows) -> Bool {
    guard left.type == right.type, left.keys == right.keys, left.foundCount == right.foundCount,
      left.links == right.links, left.forms.count == right.forms.count
    else { return false }
    for (one, other) in zip(left.forms, right.forms) {
      guard one.elementsEqual(other, by: isSame) else { return false }
    }
    return true
  }

  /// Returns whether two forms that were read from rows are of one value.
  private static func isSame(_ left: CellValue.Form, _ right: CellValue.Form) -> Bool {
    switch (left, right) {
    case (.stored(let one), .stored(let other)): one == other
    case (.data(let one), .data(let other)): one == other
    case (.reference(let one), .reference(let other)): one == other
    case (.unset, .unset), (.links, .links), (.lazy, .lazy): true
    default: false
    }
  }
}
