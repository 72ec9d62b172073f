import SQLiteAssets
import SQLiteCore

extension ObjectPlan {
  /// Makes an object's storage of a row, and checks each value.
  ///
  /// - Parameters:
  ///   - zIndex: The row's key.
  ///   - values: The values of the columns.
  ///   - magic: Where the row is from.
  func storage(
    zIndex: Int64, _ values: ArraySlice<Value>, in magic: MagicData
  ) throws -> ObjectStorage {
    var forms: [CellContent.Form] = []
    _ = try makeForms(of: zIndex, values, in: &forms)
    return ObjectStorage(self, forms, identity: .init(magic: magic, zIndex: zIndex))
  }

  /// Makes what an object's cells hold of a row, and checks each value.
  ///
  /// - Returns: Whether one is more than SQLite stores, and cost something to make.
  func makeForms(
    of zIndex: Int64, _ values: ArraySlice<Value>, in forms: inout [CellContent.Form]
  ) throws -> Bool {
    forms.removeAll(keepingCapacity: true)
    forms.reserveCapacity(properties.count)
    var next = values.startIndex
    var isLive = false
    for property in properties {
      if property.role.countsUp {
        forms.append(.stored(.integer(zIndex)))
      } else if property.hasColumn {
        let form = try form(of: values[next], property, zIndex)
        if case .live = form { isLive = true }
        forms.append(form)
        next += 1
      } else if case .links = property.role.kind {
        forms.append(property.role.isLazy ? .lazy : .links)
      } else {
        forms.append(.unset)
      }
    }
    return isLive
  }

  private func form(
    of value: Value, _ property: Property, _ zIndex: Int64
  ) throws -> CellContent.Form {
    func refuse(_ reason: String) -> MagicError {
      .unreadableValue(
        type: typeName, property: property.name, zIndex: zIndex, reason: reason)
    }
    switch property.role.kind {
    case .object(let type):
      if property.role.isLazy { return .lazy }
      switch value {
      case .integer(let target): return .reference(target)
      case .null where property.role.isOptional: return .stored(.null)
      case .null: throw refuse("the \(type) that it led to is gone")
      default: throw refuse("it is no reference but \(value.storageClass)")
      }
    case .asset:
      do {
        // Checked here, so that only what the file does can fail later.
        if !value.isNull { _ = try AssetID(databaseValue: value) }
        return .stored(value)
      } catch {
        throw refuse(error.message)
      }
    case .column, .links, .reverse:
      do {
        return try property.type.content(from: value).form
      } catch let error as SQLiteError {
        throw refuse(error.message)
      } catch {
        throw refuse("\(error)")
      }
    }
  }

  /// Makes an object's cells lead to a storage.
  func bind<Object: MagicObject>(
    _ object: Object, to storage: ObjectStorage, context: FetchContext?
  ) throws {
    guard try PropertyCollector.bind(object, to: storage, context) == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) does not always encode the same properties")
    }
  }
}
