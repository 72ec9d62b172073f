import SQLiteCore

extension AsyncMagical {
  /// Fetches the value, blocking the thread. Each call fetches anew, unless the value was set.
  ///
  /// A collection is shown with the changes that are not saved yet.
  ///
  /// - Throws: ``MagicError`` or ``SQLiteError``: also if the object or the target is gone, or the
  ///   store was closed.
  public func get() throws -> Element {
    switch try known() {
    case .value(let value): return value
    case .source(let source, let state):
      let isOne = Element.self is any MagicObject.Type
      let targets = try source.store.read {
        isOne ? try source.loadObject($0) : try source.load(.init(), $0)
      }
      return try value(of: targets, source, state)
    }
  }

  /// Fetches the value, suspending the task. Each call fetches anew, unless the value was set.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func get() async throws -> Element {
    switch try known() {
    case .value(let value): return value
    case .source(let source, let state):
      let isOne = Element.self is any MagicObject.Type
      let targets = try await source.store.read {
        isOne ? try source.loadObject($0) : try source.load(.init(), $0)
      }
      return try value(of: targets, source, state)
    }
  }

  /// Makes the value of what was read, where the caller is.
  private func value(
    of targets: LoadedTargets, _ source: LazySource, _ state: LazyState
  ) throws -> Element {
    func object<Object: MagicObject>(_ type: Object.Type) throws -> Any? {
      try targets.objects(type, in: source.store).first?.object
    }
    func collection<Collection: MagicCollection>(_ type: Collection.Type) throws -> Any? {
      let links = try targets.objects(Collection.Target.self, in: source.store)
      (self as? AsyncMagical<Collection>)?.show(targets.links, source, state)
      return try Collection(magicLinks: links).applying(state.changes, in: source.store.identity)
    }
    let made: Any? =
      if let type = Element.self as? any MagicObject.Type {
        try object(type)
      } else if let type = Element.self as? any MagicCollection.Type {
        try collection(type)
      } else {
        nil
      }
    guard let value = made as? Element else {
      throw MagicError.lostTarget(
        type: source.plan.typeName, property: source.plan.properties[source.slot].name,
        zIndex: source.zIndex)
    }
    return value
  }
}
