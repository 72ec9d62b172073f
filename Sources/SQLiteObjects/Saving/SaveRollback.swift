/// The state of objects before a save, to restore them if an outer transaction rolls back.
///
/// It references the objects weakly, because objects that the program has released needn't be
/// restored.
///
/// Proof that a rollback handler may capture it: the save fills it, and the transaction calls
/// ``run()`` once, on the same thread.
final class SaveRollback {
  private struct Object {
    weak var storage: ObjectStorage?
    let state: State
  }

  /// The previous state of an object. The case for new objects, which are the most frequent, takes
  /// no extra memory.
  private enum State {
    /// The object was in no store. The save may have assigned a key to it.
    case new(isKeyNew: Bool)
    /// The object was in a store. Its state is the next element of ``known``.
    case known
  }

  private var objects: [Object] = []
  private var known: [ObjectStorage.Known] = []
  private var lazies: [SaveGraph.Lazy] = []
  private let store: StoreIdentity

  init(in store: StoreIdentity, capacity: Int) {
    self.store = store
    objects.reserveCapacity(capacity)
  }

  /// Records the state that an object had before the save.
  func add(_ storage: ObjectStorage, _ former: consuming ObjectStorage.PreviousState) {
    switch former {
    case .new(let isKeyNew):
      objects.append(Object(storage: storage, state: .new(isKeyNew: isKeyNew)))
    case .known(let state):
      objects.append(Object(storage: storage, state: .known))
      known.append(state)
    }
  }

  /// Records a lazy value and its saved state, so that ``run()`` can mark its changes as unsaved
  /// again.
  func add(_ lazy: SaveGraph.Lazy) { lazies.append(lazy) }

  /// Restores the previous state of the objects, and marks the changes of their lazy values as
  /// unsaved.
  func run() {
    var states = known.makeIterator()
    for object in objects {
      switch object.state {
      case .new(let isKeyNew): object.storage?.restore(.new(isKeyNew: isKeyNew), in: store)
      case .known:
        guard let state = states.next() else { continue }
        object.storage?.restore(.known(state), in: store) { form in
          guard case .live(let live) = form, let lazy = live.value as? any LazyValue else {
            return false
          }
          return lazy.box.state.isChanged(in: store)
        }
      }
    }
    for lazy in lazies { lazy.box.unsaved(lazy.state, in: store) }
  }
}
