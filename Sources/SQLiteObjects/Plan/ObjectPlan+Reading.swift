import Essentials
import SQLiteAssets
import SQLiteCore
import SQLiteMapping

extension ObjectPlan {
  /// Makes the storage of the object in a row, whose first column is the key.
  ///
  /// - Throws: ``MagicError/unreadableValue(type:property:zIndex:reason:)``: each value is checked here, so
  ///   that reading a property cannot fail.
  func storage(of row: borrowing Statement, in content: StoreContent) throws -> ObjectStorage {
    try storage(of: row, row.integer(at: 0), in: content)
  }

  /// Makes the storage of the object in a row, whose first column is `zIndex`.
  func storage(
    of row: borrowing Statement, _ zIndex: Int64, in content: StoreContent
  ) throws -> ObjectStorage {
    let (handle, readers) = (row.handle, readers)
    var column: Int32 = 1
    return try ObjectStorage.make(shape, (content, zIndex)) { slot in
      switch readers[slot].kind {
      case .key: return .stored(.integer(zIndex))
      case .unset: return .unset
      case .links: return .links
      case .lazyLinks: return .lazy
      case .scalar, .reference, .lazyReference, .other:
        let place = column
        column += 1
        if let form = readers[slot].form(of: handle, at: place) { return form }
        return try form(of: handle, at: place, slot, zIndex)
      }
    }
  }

  /// Converts the value of a column that its reader could not read, or refuses it.
  private func form(
    of row: StatementHandle, at column: Int32, _ slot: Int, _ zIndex: Int64
  ) throws -> _CellValue.Form {
    let property = properties[slot]
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
          ? "the \(type) that it referred to was removed"
          : "it holds \(value.storageClass) instead of the key of an object")
    case .asset:
      do {
        // An id is checked now, so that only the file can fail later.
        if !value.isNull { _ = try AssetID(databaseValue: value) }
        return .stored(value)
      } catch {
        throw refuse(error.message)
      }
    case .column, .links, .reverse:
      do {
        return try wrappers[slot].content(from: value).form
      } catch let error as SQLiteError {
        throw refuse(error.message)
      } catch {
        throw refuse("\(error)")
      }
    }
  }
}

extension ObjectPlan {
  /// The stored form of a primary value.
  ///
  /// - Throws: ``MagicError`` if the type has no primary value, or one of another type.
  func stored(primary value: some MagicPrimaryValue) throws -> Value {
    guard let primary else { throw MagicError.missingPrimaryValue(type: typeName) }
    guard primaryType == ObjectIdentifier(Swift.type(of: value)) else {
      throw MagicError.unsuitableType(
        type: typeName,
        reason:
          "its primary value “\(properties[primary].name)” is not of the type \(Swift.type(of: value))"
      )
    }
    return try Storage.stored(value)
  }
}

/// The way in which the value of a property is read from a row: decided once, when the type is first met.
///
/// Nothing in it is counted: it is copied for each value.
struct PropertyReader: Sendable {
  enum Kind: Sendable {
    /// The value is the key.
    case key
    /// The value is read as it is stored.
    case scalar(ScalarKind)
    /// The value is the z_index of another object.
    case reference
    /// The value stays in the store.
    case lazyReference
    /// The property's type converts the value.
    case other
    /// There is no column: nothing is known of the value, or its links are fetched, or stay in the store.
    case unset, links, lazyLinks
  }

  let kind: Kind
  let isOptional: Bool

  init(_ property: ObjectProperty) {
    isOptional = property.role.isOptional
    kind = PropertyReader.kind(of: property)
  }

  /// Whether a value may lead to objects and hold them.
  var mayHoldOthers: Bool {
    switch kind {
    case .reference, .lazyReference, .other, .unset, .links, .lazyLinks: true
    case .key, .scalar: false
    }
  }

  private static func kind(of property: ObjectProperty) -> Kind {
    switch property.role.kind {
    case .column where property.role.countsUp: .key
    case .column(let storage): storage.kind == .other ? .other : .scalar(storage.kind)
    case .object: property.role.isLazy ? .lazyReference : .reference
    case .asset: .other
    case .links: property.role.isLazy ? .lazyLinks : .links
    case .reverse: .unset
    }
  }

  /// Reads a column.
  ///
  /// - Returns: Nil if the value must be converted or refused.
  @inline(__always) func form(of row: StatementHandle, at column: Int32) -> _CellValue.Form? {
    switch kind {
    case .scalar(.data):
      if let data = Data.blob(in: row, at: column) { return .data(data) }
    case .scalar(.text):
      if let text = row.text(at: column) { return .stored(.text(text)) }
    case .scalar(.real):
      if let real = row.real(at: column) { return .stored(.real(real)) }
    case .scalar(.integer):
      if let integer = row.integer(at: column) { return .stored(.integer(integer)) }
    case .scalar(let kind):
      if let value = kind.form(in: row, at: column) { return .stored(value) }
    case .reference:
      if let target = row.integer(at: column) { return .reference(target) }
    case .lazyReference:
      // A nil is known now; a target that is gone is an error when the value is asked for.
      if !isOptional || !row.isNull(at: column) { return .lazy }
    case .key, .other, .unset, .links, .lazyLinks: return nil
    }
    return isOptional && row.isNull(at: column) ? .stored(.null) : nil
  }
}
