/// An error of the object layer. Errors of SQL statements are `SQLiteError`.
public enum MagicError: Error, Hashable, Sendable {
  /// A property that isn't optional has no value, so its object can't be saved or encoded.
  case missingValue(type: String, property: String)
  /// No object of the type has this primary value.
  case notFound(type: String, primary: String)
  /// The object isn't in this store: it was never saved, or it was removed.
  case notSaved(type: String)
  /// A lazy relation has unsaved changes, so the store can't filter, sort or page it. Save its
  /// object first.
  case unsavedChanges(type: String)
  /// The store already contains the object, or another one of its type with the same primary value.
  ///
  /// `insert` throws this error, and so does `update(_:matching:)` if no object matches but one has
  /// the same primary value. `primary` is nil for an object without a primary value.
  case alreadySaved(type: String, primary: String?)
  /// All contents of the store were replaced, for example by a restore, after the object was
  /// fetched or saved. Fetch the object again.
  case restored(type: String)
  /// A save with `ifUnchanged: true` found that the row or its links have changed, or that the row
  /// was removed, since the object was fetched or saved.
  ///
  /// For a new object, it found a row with the same primary value.
  case conflict(type: String, zIndex: Int64)
  /// The type has no `@PrimaryMagicValue` property.
  case missingPrimaryValue(type: String)
  /// The declaration of the type doesn't permit storing it, or doesn't permit this operation.
  /// `reason` says why.
  case unsuitableType(type: String, reason: String)
  /// The type has no full-text search. Declare the searched properties with the trait
  /// `PropertyTrait.searched(_:_:)`.
  case notSearched(type: String)
  /// Two types of objects or records use the same table of an open database, or a type uses a table
  /// that has another purpose. `types` contains two texts, one for each user of the table: the name
  /// of the type, or a description of the purpose.
  case conflictingTypes(table: String, types: [String])
  /// The relation was decoded as keys that weren't resolved to objects. Call
  /// `MagicData.resolve(_:)` first.
  case unresolvedRelation(type: String, property: String)
  /// The stored value can't be converted to the type of the property. `zIndex` identifies the
  /// object, and `reason` says why.
  case unreadableValue(type: String, property: String, zIndex: Int64, reason: String)
  /// A value of the property can't be stored. `reason` says why.
  case unstorableValue(type: String, property: String, reason: String)
  /// An object that a relation references, or that has a lazy relation, no longer exists.
  /// `zIndex` identifies it.
  case missingTarget(type: String, zIndex: Int64)
  /// The object that a property referenced was removed. `zIndex` identifies the object with the
  /// property.
  case lostTarget(type: String, property: String, zIndex: Int64)
  /// The object can't be removed while other objects reference it, because their relations aren't
  /// optional or have a delete rule that forbids the removal.
  ///
  /// `by` contains the names of these relations, such as `Pet.owner`. It is empty if they reference
  /// an object that would be removed together with this one.
  case restricted(type: String, by: [String])
  /// The object was removed from the store before the lazy value was fetched, so the object can't
  /// be saved again.
  case lostValue(type: String, property: String)
  /// The lazy value is in another store and wasn't fetched from there. Fetch it, and set the
  /// property to the result before you save the object.
  case foreignValue(type: String, property: String)
  /// A lazy value was requested that was never set, and that can't be fetched because its object
  /// was never saved.
  case detachedValue(type: String)
  /// The store was closed.
  case closed
  /// The file is a store of the first MagicData, the library that this one replaces. Its stores
  /// have a different format. The file was not changed. `tables` contains the names of the tables
  /// that are listed in the store.
  case olderStore(path: String, tables: [String])
  /// The requested range isn't within a collection. `count` is the number of elements of the
  /// collection.
  case outOfRange(count: Int)
}

extension MagicError: CustomStringConvertible {
  /// A description of the error in English, which can contain a primary value.
  public var description: String {
    switch self {
    case .missingValue(let type, let property):
      "\(type).\(property) has no value; set it before saving, or declare it optional"
    case .notFound(let type, _): "there is no \(type) with this primary value"
    case .notSaved(let type):
      "this \(type) is not in the store: it was never saved, or it was removed"
    case .unsavedChanges(let type):
      "the \(type) has unsaved changes; save its object before you filter, sort or page it"
    case .alreadySaved(let type, _?):
      "another \(type) with this primary value already exists; change the fetched one, or "
        + "overwrite it with update(_:)"
    case .alreadySaved(let type, nil):
      "this \(type) is already in the store; save its changes with update(_:)"
    case .restored(let type):
      "the store was restored since this \(type) was fetched or saved; fetch it again"
    case .conflict(let type, let zIndex):
      "the \(type) \(zIndex) was changed or removed since it was fetched or saved; fetch it again"
    case .missingPrimaryValue(let type):
      "\(type) has no @PrimaryMagicValue; declare one to find objects by it"
    case .unsuitableType(let type, let reason): "\(type) cannot be used this way: \(reason)"
    case .notSearched(let type):
      "\(type) cannot be searched: it declares no searched properties; add the trait .searched(…)"
    case .conflictingTypes(let table, let types):
      "the table “\(table)” is used by \(types.joined(separator: " and ")); declare another "
        + "tableName"
    case .unresolvedRelation(let type, let property):
      "\(type).\(property) was decoded as keys; call MagicData.resolve(_:) before you use it"
    case .unreadableValue(let type, let property, let zIndex, let reason):
      "\(type).\(property) of the object \(zIndex) cannot be read: \(reason)"
    case .unstorableValue(let type, let property, let reason):
      "\(type).\(property) cannot be stored: \(reason)"
    case .missingTarget(let type, let zIndex):
      "the \(type) with the z_index \(zIndex) no longer exists"
    case .lostTarget(let type, let property, let zIndex):
      "the object that \(type).\(property) of the object \(zIndex) referenced was removed"
    case .restricted(let type, let properties):
      "this \(type) cannot be removed, because other objects reference it"
        + (properties.isEmpty ? "" : " by \(properties.joined(separator: ", "))")
    case .lostValue(let type, let property):
      "the object was removed before \(type).\(property) was fetched, so that value is lost"
    case .foreignValue(let type, let property):
      "\(type).\(property) is in another store; fetch it there with get(), and set the property "
        + "to the result before you save the object in this store"
    case .detachedValue(let type):
      "a lazy \(type) has neither a value nor a saved object to fetch it from; set it, or save "
        + "its object first"
    case .closed: "the store was closed"
    case .olderStore(let path, let tables):
      "\(path) is a store of the older MagicData, with the tables "
        + "\(tables.joined(separator: ", ")); read them with Database, and save their objects "
        + "in a new store"
    case .outOfRange(let count): "the range is not within the \(count) elements"
    }
  }
}
