/// An error of objects. Errors of SQL are `SQLiteError`.
public enum MagicError: Error, Hashable, Sendable {
  /// A property that is not optional has no value, so that its object cannot be saved.
  case missingValue(type: String, property: String)
  /// No object of the type has that primary value.
  case notFound(type: String, primary: String)
  /// The object is not in this store: it was never saved, or it was removed.
  case notSaved(type: String)
  /// The relation was set or changed since its object was saved, so that the store cannot filter, sort or page
  /// it: save the object first.
  case unsavedChanges(type: String)
  /// The object is in this store, or another one of its type with that primary value is; nil for an
  /// object without one.
  case alreadySaved(type: String, primary: String?)
  /// The object was fetched or saved before the whole content of the store was replaced, such as by a
  /// restore: fetch it anew.
  case restored(type: String)
  /// The row was changed or removed since the object was fetched or saved.
  case conflict(type: String, zIndex: Int64)
  /// The type has no primary value.
  case missingPrimaryValue(type: String)
  /// The type cannot be stored as it is declared.
  case unsuitableType(type: String, reason: String)
  /// The type declares no searched properties: `PropertyTrait.searched(_:_:)`.
  case notSearched(type: String)
  /// Two types claim one table of a file that is open, be they objects or records.
  case conflictingTypes(table: String, types: [String])
  /// The property was decoded from keys whose objects were not looked up: `MagicData.resolve(_:)`.
  case unresolvedRelation(type: String, property: String)
  /// The stored value does not fit the property.
  case unreadableValue(type: String, property: String, zIndex: Int64, reason: String)
  /// A value cannot be stored.
  case unstorableValue(type: String, property: String, reason: String)
  /// The object that a relation leads to is gone.
  case missingTarget(type: String, zIndex: Int64)
  /// The object that a property led to is gone.
  case lostTarget(type: String, property: String, zIndex: Int64)
  /// The object cannot be removed, since other objects lead to it that need it, or whose delete rules forbid
  /// it: by the properties that are named, such as `Pet.owner`; none if they lead to an object that would be
  /// removed with this one.
  case restricted(type: String, by: [String])
  /// The object was removed from the store before the value was fetched, so that the object cannot be saved again.
  case lostValue(type: String, property: String)
  /// The value is in another store and was not fetched from there: set the property before you save the object.
  case foreignValue(type: String, property: String)
  /// A value that is fetched on demand does not know its store, since its object was never saved.
  case detachedValue(type: String)
  /// The store was closed.
  case closed
  /// The file is a store of the older MagicData, which is another format. Nothing in it was changed.
  case olderStore(path: String, tables: [String])
  /// An index beyond what a collection holds.
  case outOfRange(count: Int)
}

extension MagicError: CustomStringConvertible {
  /// The fault, in English, without the content of any value.
  public var description: String {
    switch self {
    case .missingValue(let type, let property):
      "\(type).\(property) has no value: set one before the object is saved"
    case .notFound(let type, let primary): "there is no \(type) with the primary value \(primary)"
    case .notSaved(let type): "this \(type) is not in the store"
    case .unsavedChanges(let type):
      "the \(type) has changes that are not saved: save its object before you filter, sort or page it"
    case .alreadySaved(let type, let primary?):
      "there is a \(type) with the primary value \(primary) already: change the one that is fetched, or "
        + "overwrite it by update(_:)"
    case .alreadySaved(let type, nil): "this \(type) is in the store already"
    case .restored(let type):
      "the store was restored since this \(type) was fetched or saved; fetch it anew"
    case .conflict(let type, let zIndex):
      "the \(type) \(zIndex) was changed or removed since it was fetched or saved"
    case .missingPrimaryValue(let type): "\(type) has no @PrimaryMagicValue"
    case .unsuitableType(let type, let reason): "\(type) cannot be stored: \(reason)"
    case .notSearched(let type):
      "\(type) cannot be searched: it declares no searched properties, by the trait .searched(…)"
    case .conflictingTypes(let table, let types):
      "the table “\(table)” is claimed by \(types.joined(separator: " and ")); "
        + "declare another tableName"
    case .unresolvedRelation(let type, let property):
      "\(type).\(property) was decoded as keys: call MagicData.resolve(_:) before it is used"
    case .unreadableValue(let type, let property, let zIndex, let reason):
      "\(type).\(property) of the object \(zIndex) cannot be read: \(reason)"
    case .unstorableValue(let type, let property, let reason):
      "\(type).\(property) cannot be stored: \(reason)"
    case .missingTarget(let type, let zIndex):
      "there is no \(type) with the z_index \(zIndex) any more"
    case .lostTarget(let type, let property, let zIndex):
      "the object that \(type).\(property) of the object \(zIndex) referred to was removed"
    case .restricted(let type, let properties):
      "this \(type) cannot be removed while other objects refer to it"
        + (properties.isEmpty ? "" : ": by \(properties.joined(separator: ", "))")
    case .lostValue(let type, let property):
      "the object was removed before \(type).\(property) was fetched: that value is lost"
    case .foreignValue(let type, let property):
      "\(type).\(property) is in another store: fetch it from there by get(), and set the property to the "
        + "result before you save the object in this store"
    case .detachedValue(let type):
      "a lazy \(type) has neither a value nor a saved object to fetch it from"
    case .closed: "the store was closed"
    case .olderStore(let path, let tables):
      "\(path) is a store of the older MagicData, with the tables \(tables.joined(separator: ", ")): "
        + "read them with Database, and save their objects in a new store"
    case .outOfRange(let count): "the range is not within the \(count) elements"
    }
  }
}
