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
  /// value. For types whose properties are all columns.
  func storage(of row: borrowing Statement, in magic: MagicData) throws -> ObjectStorage {
    let handle = row.handle
    let zIndex = row.integer(at: 0)
    var column: Int32 = 1
    var forms: [CellContent.Form] = []
    forms.reserveCapacity(readers.count)
    for slot in 0..<readers.count {
      if readers[slot].kind == .key {
        forms.append(.stored(.integer(zIndex)))
        continue
      }
      if let form = readers[slot].form(of: handle, at: column) {
        forms.append(form)
      } else {
        forms.append(try converted(slot, handle, column, zIndex))
      }
      column += 1
    }
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }

  /// Reads a column as the property's type says.
  private func converted(
    _ slot: Int, _ row: StatementHandle, _ column: Int32, _ zIndex: Int64
  ) throws -> CellContent.Form {
    do {
      return try properties[slot].type.content(from: row.value(at: column)).form
    } catch {
      throw MagicError.unreadableValue(
        type: typeName, property: properties[slot].name, zIndex: zIndex,
        reason: (error as? SQLiteError)?.message ?? "\(error)")
    }
  }
}
