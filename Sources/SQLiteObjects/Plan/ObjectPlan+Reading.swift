import Essentials
import SQLiteAssets
import SQLiteCore
import SQLiteMapping

extension ObjectPlan {
  /// Creates the storage of the object in a row. The first column of the row is the key.
  ///
  /// - Throws: ``MagicError/unreadableValue(type:property:zIndex:reason:)``. All values are checked
  ///   here, so that reading a property can't fail.
  func storage(of row: borrowing Statement, in content: StoreContent) throws -> ObjectStorage {
    try storage(of: row, row.integer(at: 0), in: content)
  }

  /// Creates the storage of the object in a row. The first column of the row is the key, with the
  /// value `zIndex`.
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

  /// Converts the value of a column that the property's ``PropertyReader`` couldn't read.
  ///
  /// - Throws: ``MagicError/unreadableValue(type:property:zIndex:reason:)`` if the value is
  ///   invalid.
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
          ? "the \(type) that it referenced was removed"
          : "it contains \(value.storageClass) instead of the key of an object")
    case .asset:
      do {
        // The ID is checked now, so that later only access to the file can fail.
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
  /// Returns the stored form of a primary value.
  ///
  /// - Throws: ``MagicError/missingPrimaryValue(type:)`` if the type has no primary value,
  ///   ``MagicError/unsuitableType(type:reason:)`` if its primary value has a different type, or an
  ///   error of the conversion to the stored form.
  func stored(primary value: some MagicPrimaryValue) throws -> Value {
    guard let primary else { throw MagicError.missingPrimaryValue(type: typeName) }
    guard primaryType == ObjectIdentifier(Swift.type(of: value)) else {
      throw MagicError.unsuitableType(
        type: typeName,
        reason:
          "its primary value “\(properties[primary].name)” does not have the type "
          + "\(Swift.type(of: value))"
      )
    }
    return try ColumnStorage.stored(value)
  }
}

/// The way in which a property's value is read from a row. It is determined once for each property
/// of a type.
struct PropertyReader: Sendable {
  enum Kind: Sendable {
    /// The value is the key.
    case key
    /// The value is read in its stored form.
    case scalar(ScalarKind)
    /// The value is the z_index of another object.
    case reference
    /// The value is a reference that is loaded on demand.
    case lazyReference
    /// The property's type converts the value.
    case other
    /// The property has no column: it is a reverse relation, has links that are fetched with the
    /// object, or has links that are loaded on demand.
    case unset, links, lazyLinks
  }

  let kind: Kind
  let isOptional: Bool

  init(_ property: ObjectProperty) {
    isOptional = property.role.isOptional
    kind = PropertyReader.kind(of: property)
  }

  /// Whether a value may contain or reference other objects.
  var mayHoldObjects: Bool {
    switch kind {
    case .reference, .lazyReference, .other, .unset, .links, .lazyLinks: true
    case .key, .scalar: false
    }
  }

  private static func kind(of property: ObjectProperty) -> Kind {
    switch property.role.kind {
    case .column where property.role.isAutoIncrement: .key
    case .column(let storage): storage.kind == .other ? .other : .scalar(storage.kind)
    case .object: property.role.isLazy ? .lazyReference : .reference
    case .asset: .other
    case .links: property.role.isLazy ? .lazyLinks : .links
    case .reverse: .unset
    }
  }

  /// Reads a column.
  ///
  /// - Returns: The form, or nil if the value must be converted or is invalid.
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
      // NULL is known to be nil. A missing target is an error only when the value is accessed.
      if !isOptional || !row.isNull(at: column) { return .lazy }
    case .key, .other, .unset, .links, .lazyLinks: return nil
    }
    return isOptional && row.isNull(at: column) ? .stored(.null) : nil
  }
}
