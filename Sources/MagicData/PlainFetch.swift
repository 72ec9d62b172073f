import SQLiteCore

/// What a query brought.
enum Fetched: Sendable {
  /// The values of objects whose types lead to no others.
  case plain([ObjectStorage])
  /// Rows and links of objects and all that they lead to.
  case graph(FetchedGraph)
}

extension ObjectPlan {
  /// Makes an object's storage of the row that a statement stands on, the key first, and checks each
  /// value. For types that lead to no others, or only to those that are fetched on demand.
  func storage(of row: borrowing Statement, in magic: MagicData) throws -> ObjectStorage {
    let zIndex = row.integer(at: 0)
    var forms: [CellContent.Form] = []
    forms.reserveCapacity(readers.count)
    try appendForms(of: row, zIndex, to: &forms)
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }
}
