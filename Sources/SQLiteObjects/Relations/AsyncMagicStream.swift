import SQLiteCore
import SQLiteRelations

extension AsyncMagical where Element: MagicCollection {
  /// Returns a stream of the items, which are fetched in batches while you iterate.
  ///
  ///     for try await item in try owner.items.stream() { … }
  ///
  /// One batch at a time is in memory, and with unsaved changes also the keys of all items. Each batch is a separate
  /// snapshot, so objects that are added or removed during the iteration may or may not be included. If the iteration
  /// ends early, no further batch is fetched. For a filter or another order, use `MagicData.forEach(_:batch:_:)` with a
  /// query of the relation.
  ///
  /// - Parameter batch: The maximum number of items to fetch at once.
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is no value.
  public func stream(batch: Int = 500) throws -> AsyncMagicStream<Element> {
    switch try known() {
    case .value(let value):
      AsyncMagicStream(.items(try value.magicLinks.map { try Element.magicItem(of: $0) }), batch: 1)
    case .source(let objects, let state) where state.edits.isEmpty:
      AsyncMagicStream(.objects(objects, last: nil), batch: max(1, batch))
    case .source(let objects, let state):
      AsyncMagicStream(.changed(self, objects, state), batch: max(1, batch))
    }
  }
}

/// A stream of the items of a lazy collection, which are fetched in batches while you iterate.
public struct AsyncMagicStream<Collection: MagicCollection>: AsyncSequence {
  /// The source of the next items.
  fileprivate indirect enum Origin {
    case items([Collection.MagicItem])
    /// The store, to be read on from the last link.
    case objects(RelatedObjects, last: StoredLink?)
    /// A collection whose links, some or all, were not read yet, with changes to be made to them.
    case changed(AsyncMagical<Collection>, RelatedObjects, LazyState)
    /// The rest of a collection whose links were read.
    case links(ArraySlice<LazyItem>, AsyncMagical<Collection>, RelatedObjects)
  }

  private let origin: Origin
  private let batch: Int

  fileprivate init(_ origin: Origin, batch: Int) {
    self.origin = origin
    self.batch = batch
  }

  /// Starts at the first item.
  public func makeAsyncIterator() -> Iterator { Iterator(origin, batch) }

  /// The position of a loop.
  public struct Iterator: AsyncIteratorProtocol {
    private var items: ArraySlice<Collection.MagicItem> = []
    private var origin: Origin
    private let batch: Int

    fileprivate init(_ origin: Origin, _ batch: Int) {
      self.origin = origin
      self.batch = batch
    }

    /// The next item, or nil.
    ///
    /// - Throws: ``MagicError``, `SQLiteError` or `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> Collection.MagicItem? {
      // Objects that are gone since are passed over, so that a batch may bring nothing.
      while items.isEmpty {
        switch origin {
        case .items(let known):
          if known.isEmpty { return nil }
          items = known[...]
          origin = .items([])
        case .objects(let objects, let last):
          let answer = try await objects.answer(.targets(objects.page(after: last, limit: batch)))
          let isLast = answer.links.count < batch
          origin = isLast ? .items([]) : .objects(objects, last: answer.links.last)
          items = try objects.links(to: Collection.Target.self, answer)
            .map { try Collection.magicItem(of: $0) }[...]
        case .changed(let value, let objects, let state):
          let answer = try await objects.answer(.links())
          origin = .links(try value.items(answer.links, objects, state)[...], value, objects)
        case .links(let links, let value, let objects):
          if links.isEmpty { return nil }
          origin = .links(links.dropFirst(batch), value, objects)
          items = try await value.fetching(links.prefix(batch), objects).get()[...]
        }
      }
      return items.popFirst()
    }
  }
}
