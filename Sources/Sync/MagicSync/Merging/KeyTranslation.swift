import SQLiteCore
import SQLiteHistory

/// Gives the rows that entries insert keys of another range.
///
/// A copy of a store, such as a restored backup, assigns the same keys as the original until it
/// begins again with a new identity.
struct KeyTranslation {
  /// The keys that the entries have inserted, by the lowercased names of the tables.
  private var keys: [String: Set<Int64>] = [:]
  private let range: ClosedRange<Int64>
  private let offset: Int64
  private let schema: SyncSchema

  /// - Parameters:
  ///   - patches: The changes of the entries.
  ///   - range: The range of the keys that are replaced.
  ///   - first: The first key of the range that replaces them.
  ///   - schema: The schema of the store.
  init(
    _ patches: [Patch], from range: ClosedRange<Int64>, to first: Int64, _ schema: SyncSchema
  ) {
    self.range = range
    self.schema = schema
    offset = first - range.lowerBound
    for table in patches.flatMap(\.tables) where table.keyColumns.count == 1 {
      for row in table.rows where row.kind == .insert {
        if case .integer(let key)? = table.key(of: row).values.first, range.contains(key) {
          keys[asciiLowercased(table.name), default: []].insert(key)
        }
      }
    }
  }

  /// Returns a patch with the new keys.
  func translated(_ patch: Patch) throws -> Patch {
    guard !keys.isEmpty else { return patch }
    return Patch(
      tables: try patch.tables.map { table in
        // The keys that each column may contain.
        var columnKeys = [Set<Int64>](repeating: [], count: table.columns?.count ?? 0)
        if table.keyColumns.count == 1, let key = table.keyColumns.first {
          columnKeys[key] = keys[asciiLowercased(table.name)] ?? []
        }
        for foreign in try schema.table(table.name)?.foreignKeys ?? []
        where foreign.columns.count == 1 {
          let column = asciiLowercased(foreign.columns[0])
          if let place = table.columns?.firstIndex(where: { asciiLowercased($0) == column }) {
            columnKeys[place].formUnion(keys[asciiLowercased(foreign.referencedTable)] ?? [])
          }
        }
        func values(_ values: [Value?]) -> [Value?] {
          zip(values, columnKeys).map { value, keys in
            guard case .integer(let key)? = value, keys.contains(key) else { return value }
            return .integer(key + offset)
          }
        }
        return Patch.Table(
          name: table.name, keyPositions: table.keyPositions, columns: table.columns,
          rows: table.rows.map { row in
            Patch.Row(
              row.kind, isIndirect: row.isIndirect, old: values(row.old), new: values(row.new))
          })
      })
  }
}
