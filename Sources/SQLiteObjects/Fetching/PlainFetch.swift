import SQLiteCore

/// What a query brought.
enum Fetched: Sendable {
  /// The values of objects whose types lead to no others.
  case plain([ObjectStorage])
  /// Rows and links of objects and all that they lead to.
  case graph(FetchedGraph)
}

extension Fetched {
  /// The z_index values of the objects that were found, in their order.
  func zIndexes(_ type: any MagicObject.Type) -> [Int64] {
    switch self {
    case .plain(let storages): storages.compactMap { $0.lastIdentity?.zIndex }
    case .graph(let graph): Array(graph.found(type))
    }
  }

  /// Makes the objects of what was read.
  func objects<Object: MagicObject>(
    _ type: Object.Type, _ plan: ObjectPlan, in store: MagicData
  ) throws -> [Object] {
    switch self {
    case .plain(let storages):
      return try plan.objects(type, of: storages)
    case .graph(let graph):
      return try FetchContext(store: store, graph).objects(of: type)
    }
  }
}

extension ObjectPlan {
  /// Makes an object's storage of the row that a statement stands on, the key first, and checks each
  /// value.
  func storage(of row: borrowing Statement, in magic: MagicData) throws -> ObjectStorage {
    try storage(of: row, row.integer(at: 0), in: magic)
  }

  /// Makes an object's storage of the row with a key.
  func storage(
    of row: borrowing Statement, _ zIndex: Int64, in magic: MagicData
  ) throws -> ObjectStorage {
    var forms: [CellContent.Form] = []
    forms.reserveCapacity(readers.count)
    try appendForms(of: row, zIndex, to: &forms)
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }
}
