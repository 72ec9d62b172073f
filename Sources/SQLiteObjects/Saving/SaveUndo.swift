/// What objects were before a save, for a transaction around it that may still be undone.
///
/// It references the objects weakly: nobody can ask those that the program has released. Proof that it may cross threads:
/// it is filled by the save, and run once by the transaction, which is on the same thread.
final class SaveUndo {
  private struct Object {
    weak var storage: ObjectStorage?
    let state: State
  }

  /// What an object was. Most objects were new, and take no memory for that.
  private enum State {
    /// No store knew it. The save may have given it a key.
    case new(isKeyNew: Bool)
    /// The next of ``known``.
    case known
  }

  private var objects: [Object] = []
  private var known: [ObjectStorage.Known] = []
  private var lazies: [SaveGraph.Lazy] = []

  init(capacity: Int) { objects.reserveCapacity(capacity) }

  /// Notes an object that was saved.
  func add(_ storage: ObjectStorage, _ former: consuming ObjectStorage.Former) {
    switch former {
    case .new(let isKeyNew):
      objects.append(Object(storage: storage, state: .new(isKeyNew: isKeyNew)))
    case .known(let state):
      objects.append(Object(storage: storage, state: .known))
      known.append(state)
    }
  }

  /// Notes a lazy value that is saved.
  func add(_ lazy: SaveGraph.Lazy) { lazies.append(lazy) }

  /// Makes the objects what they were.
  func run() {
    var states = known.makeIterator()
    for object in objects {
      switch object.state {
      case .new(let isKeyNew): object.storage?.restore(.new(isKeyNew: isKeyNew))
      case .known:
        guard let state = states.next() else { continue }
        object.storage?.restore(.known(state))
      }
    }
    for lazy in lazies { lazy.value.unsaved(lazy.state) }
  }
}
