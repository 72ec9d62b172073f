import SQLiteCore
import SQLiteRelations

/// A relation of an object, as the starting point of queries for the related objects.
///
///     let admired = try magic.fetch(toronto.twinnedBy.where(\.$population > 1_000_000).count)
///
/// A query returns each related object once and reads only saved data: it ignores unsaved changes
/// to the relation. Without sort keys, the objects of an array are in the array's order. The
/// objects of other relations are ordered by row key, which is usually the order in which they were
/// first saved. Fetching throws ``MagicError/notSaved(type:)`` if the object that has the relation
/// isn't in the store.
public protocol QuerySource<Target> {
  /// The type of the related objects.
  associatedtype Target: MagicObject
  /// The query for all related objects.
  var all: Query<Target> { get }
}

extension QuerySource {
  /// Returns the query for the related objects that match a filter.
  ///
  /// - Parameter filter: A condition, such as `\.$population > 1_000_000`.
  public func `where`(_ filter: Filter<Target>) -> Query<Target> { all.where(filter) }

  /// Returns the query for all related objects, sorted.
  ///
  /// - Parameter keys: The sort keys, the most significant first.
  public func ordered(by keys: SortKey<Target>...) -> Query<Target> { all.ordered(by: keys) }

  /// Returns the query for all related objects, sorted by an array of sort keys.
  ///
  /// - Parameter keys: The sort keys, the most significant first.
  public func ordered(by keys: [SortKey<Target>]) -> Query<Target> { all.ordered(by: keys) }
}

extension MagicValue: QuerySource where Value: MagicCollection {
  /// The type of the related objects.
  public typealias Target = Value.Target
  /// The query for all related objects.
  public var all: Query<Value.Target> { Query(from: RelationOrigin(cell)) }
}

extension AsyncReverseMagicSet: QuerySource {
  /// The query for all objects that reference this one.
  public var all: Query<Owner> { Query(from: RelationOrigin(cell)) }
}

extension AsyncMagical: QuerySource where Element: MagicCollection {
  /// The query for all objects of the collection. Fetching it throws
  /// ``MagicError/unsavedChanges(type:)`` if the collection has been set or changed since the
  /// object was last fetched or saved, and ``MagicError/detachedValue(type:)`` if it has never been set or saved.
  public var all: Query<Element.Target> { Query(from: LazyOrigin(box: box, type: Element.self)) }
}

/// The starting point of a query: a relation property of an object that has been fetched or saved.
private struct RelationOrigin: QueryOrigin {
  private let storage: ObjectStorage?
  private let slot: Int

  init(_ cell: _MagicCell) {
    storage = cell.address?.storage
    slot = cell.address?.slot ?? 0
  }

  func relation(in store: any ObjectStore) throws -> (ObjectRelation, owner: Int64) {
    guard let storage, let owner = storage.zIndex(in: store.identity) else {
      throw MagicError.notSaved(type: storage?.shape.typeName ?? "object")
    }
    return (try store.relation(of: storage.shape, slot), owner)
  }
}

/// The starting point of a query: a lazy collection of an object that has been fetched or saved.
private struct LazyOrigin: QueryOrigin {
  let box: LazyBox
  /// The type of the collection.
  let type: any MagicCollection.Type

  func relation(in store: any ObjectStore) throws -> (ObjectRelation, owner: Int64) {
    let state = box.state
    let saved = try state.objects(of: type) ?? state.savedSource(in: store.identity)?.objects
    guard let objects = saved, state.edits.isEmpty else {
      throw MagicError.unsavedChanges(type: "\(type)")
    }
    guard objects.store.identity == store.identity else {
      throw MagicError.notSaved(type: objects.relation.owner.typeName)
    }
    return (objects.relation, objects.zIndex)
  }
}
