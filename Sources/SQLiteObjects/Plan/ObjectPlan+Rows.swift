import SQLiteAssets
import SQLiteCore

extension ObjectPlan {
  /// Makes what an object's properties hold of the row that a statement stands on, the key first, and
  /// checks each value.
  ///
  /// - Throws: ``MagicError/unreadableValue(type:property:zIndex:reason:)``.
  func appendForms(
    of row: borrowing Statement, _ zIndex: Int64, to forms: inout [CellContent.Form]
  ) throws {
    let handle = row.handle
    var column: Int32 = 1
    for slot in 0..<readers.count {
      switch readers[slot].kind {
      case .key: forms.append(.stored(.integer(zIndex)))
      case .none: forms.append(readers[slot].absent)
      case .text, .integer, .real, .boolean, .data, .reference, .lazyReference, .other:
        if let form = readers[slot].form(of: handle, at: column) {
          forms.append(form)
        } else {
          forms.append(try form(of: handle, at: column, properties[slot], zIndex))
        }
        column += 1
      }
    }
  }

  /// Reads a column that holds something else than it mostly does.
  private func form(
    of row: StatementHandle, at column: Int32, _ property: Property, _ zIndex: Int64
  ) throws -> CellContent.Form {
    func refuse(_ reason: String) -> MagicError {
      .unreadableValue(
        type: typeName, property: property.name, zIndex: zIndex, reason: reason)
    }
    let value: Value
    do {
      value = try row.value(at: column)
    } catch {
      throw refuse(error.message)
    }
    switch property.role.kind {
    case .object(let type):
      throw refuse(
        value.isNull
          ? "the \(type) that it led to is gone" : "it is no reference but \(value.storageClass)")
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
}

extension ObjectPlan {
  /// What the column of the primary property stores for a value.
  ///
  /// - Throws: ``MagicError`` if the type has no primary value, or one of another type.
  func stored(primary value: some MagicPrimaryValue) throws -> Value {
    guard let primary else { throw MagicError.missingPrimaryValue(type: typeName) }
    guard primaryType == ObjectIdentifier(Swift.type(of: value)) else {
      throw MagicError.unsuitableType(
        type: typeName,
        reason: "its primary value “\(properties[primary].name)” is no \(Swift.type(of: value))")
    }
    return try ValueCoding.stored(value)
  }
}
