import SQLiteCore
import SQLiteRelations

/// An object in a collection, with what its link says of its place there. Opaque.
public struct MagicLink<Object: MagicObject> {
  let place: SQLiteCore.Value
  let object: Object

  init(_ place: SQLiteCore.Value, _ object: Object) {
    self.place = place
    self.object = object
  }
}

/// What a property leads to, of an object that was fetched and then changed: an object of the same
/// fetch by its z_index, lest objects of one fetch hold each other for ever.
package struct RelationTarget: Sendable {
  package enum End: Sendable {
    case fetched(Int64)
    case other(LiveValue)
  }

  let place: SQLiteCore.Value
  let end: End
}

extension FetchContext {
  /// The form in which a relation of one of the fetch's objects is held that was set.
  func form(
    of form: CellContent.Form, for property: ObjectPlan.Property
  ) -> CellContent.Form {
    guard property.isRelation, !property.role.isLazy, case .live(let live) = form else {
      return form
    }
    if let object = live.value as? any MagicObject {
      return zIndex(of: object).map { .reference($0) } ?? form
    }
    if let collection = live.value as? any MagicCollection, let targets = targets(of: collection) {
      return .targets(targets)
    }
    return form
  }

  /// What the links of a changed property lead to, as a collection.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of targets: [RelationTarget]
  ) throws -> Collection {
    try Collection(
      magicLinks: targets.map { target in
        switch target.end {
        case .fetched(let zIndex):
          MagicLink(target.place, try object(Collection.Target.self, zIndex))
        case .other(let live):
          MagicLink(target.place, try live.object(Collection.Target.self))
        }
      })
  }

  /// What the links of a property lead to that was not changed, as a collection.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of storage: ObjectStorage, slot: Int
  ) throws -> Collection {
    let links = links(of: storage, slot: slot)
    let objects = try objects(Collection.Target.self, links.targets)
    if let list = objects as? Collection { return list }
    var next = 0
    return try Collection(
      magicLinks: links.map { place, _ in
        next += 1
        return MagicLink(place, objects[next - 1])
      })
  }

  private func targets<Collection: MagicCollection>(
    of collection: Collection
  ) -> [RelationTarget]? {
    // What cannot be stored is refused when it is saved.
    guard let links = try? collection.magicLinks else { return nil }
    return links.map { link in
      RelationTarget(
        place: link.place,
        end: zIndex(of: link.object).map { .fetched($0) } ?? .other(LiveValue(link.object)))
    }
  }

  /// The z_index of an object of this fetch.
  private func zIndex<Object: MagicObject>(of object: Object) -> Int64? {
    guard let place = PropertyCollector.firstCell(of: object)?.place, place.context === self else {
      return nil
    }
    // One that was removed and saved anew has another z_index than the fetch knows it by.
    let zIndex = place.storage.zIndex(in: store.identity)
    return zIndex == place.storage.fetchedZIndex ? zIndex : nil
  }
}

extension LiveValue {
  fileprivate func object<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    guard let object = value as? Object else { throw MagicError.notSaved(type: "\(type)") }
    return object
  }
}
