import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// The content of a result, to compare it with another one: the stored forms, which the objects made of
/// them share until they are changed.
struct ResultPrint: Sendable {
  private var values: [Value] = []
  private var tables: [Rows] = []

  /// The rows of one type.
  fileprivate struct Rows {
    let shape: ObjectShape
    let numbers: RowNumbers
    let forms: [[_CellValue.Form]]
    let foundCount: Int
    let links: [Int: FetchedLinks]

    init(_ rows: FetchedRows) {
      shape = rows.shape
      numbers = rows.numbers
      forms = rows.storages.map(\.forms)
      foundCount = rows.foundCount
      links = rows.links
    }

    var keys: [Int64] { numbers.keys }
  }

  /// Describes a result of plain values.
  init(values: [Value] = []) {
    self.values = values
  }

  /// Describes objects with what they lead to, with the contents of their assets.
  ///
  /// - Throws: ``SQLiteError``.
  init(_ fetched: Fetched, _ connection: Connection) throws {
    tables = fetched.rows.map { Rows($0) }
    var assets: [String] = []
    for table in tables {
      for (slot, property) in table.shape.properties.enumerated() where property.role.isAsset {
        for forms in table.forms {
          if case .stored(.text(let id)) = forms[slot] { assets.append(id) }
        }
      }
    }
    guard !assets.isEmpty else { return }
    // The id of an asset stays when its content is replaced, so the files are compared.
    try connection.forEachRow(
      "SELECT id, file FROM magicdata_asset WHERE id IN \(assets) ORDER BY id"
    ) { row in
      values.append(try row.value(at: 0))
      values.append(try row.value(at: 1))
    }
  }

  /// Adds plain values.
  mutating func add(_ values: [Value]) { self.values += values }

  /// Adds the ranks and texts of a search.
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
    left.values == right.values
      && left.tables.elementsEqual(right.tables) { one, other in
        one.shape.type == other.shape.type && one.keys == other.keys
          && one.foundCount == other.foundCount && one.links == other.links
          && one.forms.elementsEqual(other.forms) { $0.elementsEqual($1, by: isSame) }
      }
  }

  /// Returns whether two forms that were read from rows are of one value.
  @inline(never)
  fileprivate static func isSame(_ left: _CellValue.Form, _ right: _CellValue.Form) -> Bool {
    switch (left, right) {
    case (.stored(let one), .stored(let other)): one == other
    case (.data(let one), .data(let other)): one == other
    case (.reference(let one), .reference(let other)): one == other
    case (.unset, .unset), (.links, .links), (.lazy, .lazy): true
    default: false
    }
  }
}

// Which objects have changed.
extension ResultPrint {
  /// The z_index values of the objects that the query itself found, in its order.
  var found: ArraySlice<Int64> { tables.first.map { $0.keys.prefix($0.foundCount) } ?? [] }

  /// The places of the objects in ``found`` that were found before, too, and differ since then or lead to an object
  /// which does.
  ///
  /// - Complexity: O(*n*) in the rows and links of both results.
  func updated(since before: ResultPrint) -> [Int] {
    if tables.isEmpty { return [] }
    let known = Set(before.found)
    let (files, filesBefore) = (self.files, before.files)
    var changed = tables.map { table -> [Bool] in
      let old = before.tables.first { $0.shape.type == table.shape.type }
      return table.keys.enumerated().map { number, key in
        guard let old, let place = old.numbers[key] else { return true }
        return !table.isSame(number, old, place, files, filesBefore)
      }
    }
    spread(&changed)
    return found.enumerated().filter { changed[0][$0] && known.contains($1) }.map(\.offset)
  }

  /// The files of the assets by their ids.
  private var files: [Value: Value] {
    Dictionary(
      stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) },
      uniquingKeysWith: { $1 })
  }

  /// Marks the rows that lead to a marked one.
  private func spread(_ changed: inout [[Bool]]) {
    let indexes = Dictionary(
      tables.enumerated().map { (ObjectIdentifier($1.shape.type), $0) }, uniquingKeysWith: { $1 })
    /// The rows that lead to each row.
    var owners: [[[(table: Int, number: Int)]]] = tables.map {
      Array(repeating: [], count: $0.keys.count)
    }
    for (index, table) in tables.enumerated() {
      for (slot, property) in table.shape.properties.enumerated() where !property.role.isLazy {
        guard let type = property.role.target, let target = indexes[ObjectIdentifier(type)] else {
          continue
        }
        for (number, key) in table.keys.enumerated() {
          for other in table.targets(of: number, key, slot) {
            guard let place = tables[target].numbers[other] else { continue }
            owners[target][place].append((index, number))
          }
        }
      }
    }
    var pending: [(table: Int, number: Int)] = []
    for (index, marks) in changed.enumerated() {
      for (number, isMarked) in marks.enumerated() where isMarked {
        pending.append((index, number))
      }
    }
    while let next = pending.popLast() {
      for owner in owners[next.table][next.number] where !changed[owner.table][owner.number] {
        changed[owner.table][owner.number] = true
        pending.append(owner)
      }
    }
  }
}

extension ResultPrint.Rows {
  /// Returns whether a row, its links and the contents of its assets are as they were.
  fileprivate func isSame(
    _ number: Int, _ old: Self, _ place: Int, _ files: [Value: Value], _ filesBefore: [Value: Value]
  ) -> Bool {
    guard number < forms.count, place < old.forms.count,
      forms[number].elementsEqual(old.forms[place], by: ResultPrint.isSame)
    else { return false }
    let key = keys[number]
    for (slot, property) in shape.properties.enumerated() {
      switch property.role.kind {
      case .links(let arrangement, _):
        let (one, other) = (links[slot]?[key] ?? .none, old.links[slot]?[key] ?? .none)
        if !one.isSame(as: other, arrangement.form) { return false }
      case .asset:
        if case .stored(let id) = forms[number][slot], files[id] != filesBefore[id] { return false }
      case .column, .object, .reverse: continue
      }
    }
    return true
  }

  /// The keys of the objects that a property of a row leads to.
  fileprivate func targets(of number: Int, _ key: Int64, _ slot: Int) -> [Int64] {
    if let links = links[slot] { return Array(links[key].targets) }
    if number < forms.count, case .reference(let target) = forms[number][slot] { return [target] }
    return []
  }
}
