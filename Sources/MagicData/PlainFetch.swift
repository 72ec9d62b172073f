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
    let zIndex = row.integer(at: 0)
    var forms: [CellContent.Form] = []
    forms.reserveCapacity(properties.count)
    var column = 1
    for property in properties {
      if property.role.countsUp {
        forms.append(.stored(.integer(zIndex)))
        continue
      }
      do {
        let value = try row.value(at: column)
        if property.plainKind?.fits(value) == true || (value.isNull && property.role.isOptional) {
          forms.append(.stored(value))
        } else {
          forms.append(try property.type.content(from: value).form)
        }
      } catch {
        throw MagicError.unreadableValue(
          type: typeName, property: property.name, zIndex: zIndex,
          reason: (error as? SQLiteError)?.message ?? "\(error)")
      }
      column += 1
    }
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }

  /// Makes the object of a storage.
  func object<Object: MagicObject>(_ type: Object.Type, of storage: ObjectStorage) throws -> Object
  {
    let object = Object()
    try bind(object, to: storage, context: nil)
    return object
  }
}
