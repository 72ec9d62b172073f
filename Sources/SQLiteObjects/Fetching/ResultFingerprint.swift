import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// The stored values of a result, for comparing it with another result. They share memory with the
/// fetched objects until the objects are changed.
package struct ResultFingerprint: Sendable {
  private var values: [Value] = []
  private var tables: [Rows] = []

  /// The stored values and the links of the rows of one type.
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

  /// Creates the fingerprint of a result that consists of plain values.
  init(values: [Value] = []) {
    self.values = values
  }

  /// Creates the fingerprint of fetched objects, their related objects, and the contents of their
  /// assets.
  ///
  /// - Throws: ``SQLiteError`` if reading the assets' rows fails.
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
    // An asset keeps its id when its content is replaced, so the names of the files are compared.
    try connection.forEachRow(
      "SELECT id, file FROM magicdata_asset WHERE id IN \(assets) ORDER BY id"
    ) { row in
      values.append(try row.value(at: 0))
      values.append(try row.value(at: 1))
    }
  }

  /// Adds plain values to the fingerprint.
  mutating func add(_ values: [Value]) { self.values += values }

  /// Adds the ranks and texts of search results to the fingerprint.
  mutating func add(_ hits: [SearchResult<Int64>]) {
    for hit in hits {
      values += [.integer(hit.value), .real(hit.rank), .text(hit.snippet)]
      for (name, text) in hit.highlights.sorted(by: { $0.key < $1.key }) {
        values += [.text(name), .text(text)]
      }
    }
  }
}

extension ResultFingerprint: Equatable {
  package static func == (left: ResultFingerprint, right: ResultFingerprint) -> Bool {
    left.values == right.values
      && left.tables.elementsEqual(right.tables) { one, other in
        one.shape.type == other.shape.type && one.keys == other.keys
          && one.foundCount == other.foundCount && one.links == other.links
          && one.forms.elementsEqual(other.forms) { $0.elementsEqual($1, by: isSame) }
      }
  }

  /// Returns whether two fetched forms represent the same value. Links count as equal, because they
  /// are compared separately. Lazy values count as equal, because they aren't observed.
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

// The objects that have changed.
extension ResultFingerprint {
  /// The z_index values of the objects that the query itself selected, in its order.
  package var found: ArraySlice<Int64> { tables.first.map { $0.keys.prefix($0.foundCount) } ?? [] }

  /// Returns the indexes in ``found`` of the objects that are also found in `before`, and that have
  /// changed since then or reference, directly or through others, a changed object.
  ///
  /// - Complexity: O(*n*) in the number of rows and links of both results.
  package func updated(since before: ResultFingerprint) -> [Int] {
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
    propagate(&changed)
    return found.enumerated().filter { changed[0][$0] && known.contains($1) }.map(\.offset)
  }

  /// The names of the assets' files, by asset id.
  private var files: [Value: Value] {
    Dictionary(
      stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) },
      uniquingKeysWith: { $1 })
  }

  /// Marks the rows that reference a marked row, directly or through others. `changed` contains a
  /// mark for each row of each table.
  private func propagate(_ changed: inout [[Bool]]) {
    let indexes = Dictionary(
      tables.enumerated().map { (ObjectIdentifier($1.shape.type), $0) }, uniquingKeysWith: { $1 })
    /// The rows that reference each row, by the table and number of the referenced row.
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

extension ResultFingerprint.Rows {
  /// Returns whether a row, its links and the contents of its assets are the same as in an older
  /// result.
  ///
  /// - Parameters:
  ///   - number: The number of the row in this result.
  ///   - old: The rows of the type in the older result.
  ///   - place: The number of the row in the older result.
  ///   - files: The names of the assets' files in this result.
  ///   - filesBefore: The names of the assets' files in the older result.
  fileprivate func isSame(
    _ number: Int, _ old: Self, _ place: Int, _ files: [Value: Value], _ filesBefore: [Value: Value]
  ) -> Bool {
    guard number < forms.count, place < old.forms.count,
      forms[number].elementsEqual(old.forms[place], by: ResultFingerprint.isSame)
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

  /// Returns the keys of the objects that a relation property of a row references.
  fileprivate func targets(of number: Int, _ key: Int64, _ slot: Int) -> [Int64] {
    if let links = links[slot] { return Array(links[key].targets) }
    if number < forms.count, case .reference(let target) = forms[number][slot] { return [target] }
    return []
  }
}
