/// What objects were before a save, for a transaction around it that may still be undone.
///
/// It references the objects weakly: nobody can ask those that the program has released. Proof that it may cross threads:
/// it is filled by the save, and run once by the transaction, which is on the same thread.
final class SaveUndo {
  private struct Object {
    weak var storage: ObjectStorage?
    let former: ObjectStorage.Former
  }

  private var objects: [Object] = []
  private var lazies: [SaveGraph.Lazy] = []

  init(capacity: Int) { objects.reserveCapacity(capacity) }

  /// Notes an object that was saved.
  func add(_ storage: ObjectStorage, _ former: consuming ObjectStorage.Former) {
    objects.append(Object(storage: storage, former: former))
  }

  /// Notes a lazy value that is saved.
  func add(_ lazy: SaveGraph.Lazy) { lazies.append(lazy) }

  /// Makes the objects what they were.
  func run() {
    for object in objects { object.storage?.restore(object.former) }
    for lazy in lazies { lazy.value.unsaved(lazy.state) }
  }
}
