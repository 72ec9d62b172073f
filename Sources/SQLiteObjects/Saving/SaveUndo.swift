/// What objects were before a save, for a transaction around it that may still be undone.
///
/// It references the objects weakly: nobody can ask those that the program has released. Proof that it may cross threads:
/// it is filled by the save, and run once by the transaction, which is on the same thread.
final class SaveUndo {
  private struct Object {
    weak var storage: ObjectStorage?
    let former: Former
  }

  /// What an object was. Most objects were new, and take no memory for that.
  private enum Former {
    case new(isKeyNew: Bool)
    // Indirect here only: a save without a transaction around it allocates nothing (benchmark `update`).
    indirect case known(ObjectStorage.Known)

    init(_ former: consuming ObjectStorage.Former) {
      switch former {
      case .new(let isKeyNew): self = .new(isKeyNew: isKeyNew)
      case .known(let known): self = .known(known)
      }
    }

    var whole: ObjectStorage.Former {
      switch self {
      case .new(let isKeyNew): .new(isKeyNew: isKeyNew)
      case .known(let known): .known(known)
      }
    }
  }

  private var objects: [Object] = []
  private var lazies: [SaveGraph.Lazy] = []

  init(capacity: Int) { objects.reserveCapacity(capacity) }

  /// Notes an object that was saved.
  func add(_ storage: ObjectStorage, _ former: consuming ObjectStorage.Former) {
    objects.append(Object(storage: storage, former: Former(former)))
  }

  /// Notes a lazy value that is saved.
  func add(_ lazy: SaveGraph.Lazy) { lazies.append(lazy) }

  /// Makes the objects what they were.
  func run() {
    for object in objects { object.storage?.restore(object.former.whole) }
    for lazy in lazies { lazy.value.unsaved(lazy.state) }
  }
}
