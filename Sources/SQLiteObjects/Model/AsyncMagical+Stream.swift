import SQLiteCore
import SQLiteRelations

extension AsyncMagical where Element: MagicCollection {
  /// The items one after the other, fetched in batches as they are asked for.
  ///
  ///     for try await item in try owner.items.createAsyncStream() { … }
  ///
  /// Takes the memory of one batch, however many items there are; if there are changes that are not saved
  /// yet, also of the keys of all items. Each batch is a snapshot of its own:
  /// objects that come or go meanwhile are met or not. Nothing is fetched after the last item that is
  /// asked for.
  ///
  /// - Parameter batch: The most items to fetch at once.
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is no value.
  public func createAsyncStream(batch: Int = 500) throws -> AsyncMagicStream<Element> {
    switch try known() {
    case .value(let value): AsyncMagicStream(.links(try value.magicLinks), batch: 1)
    case .source(let source, let state) where !state.edits.isEmpty:
      AsyncMagicStream(.changed(self, source, state), batch: max(1, batch))
    case .source(let source, _): AsyncMagicStream(.source(source), batch: max(1, batch))
    }
  }
}

/// The items of a lazy collection, fetched in batches as they are asked for.
public struct AsyncMagicStream<Collection: MagicCollection>: AsyncSequence {
  /// Where the items come from.
  fileprivate enum Origin {
    case links([MagicLink<Collection.Target>])
    case source(LazySource)
    case changed(AsyncMagical<Collection>, LazySource, LazyState)
  }

  private let origin: Origin
  private let batch: Int

  fileprivate init(_ origin: Origin, batch: Int) {
    self.origin = origin
    self.batch = batch
  }

  /// Starts at the first item.
  public func makeAsyncIterator() -> Iterator {
    switch origin {
    case .links(let links): Iterator(links[...], source: nil, batch: batch)
    case .source(let source): Iterator([], source: source, batch: batch)
    case .changed(let value, let source, let state):
      Iterator(value, source, state, batch: batch)
    }
  }

  /// Where a loop stands.
  public struct Iterator: AsyncIteratorProtocol {
    private var links: ArraySlice<MagicLink<Collection.Target>>
    /// What to read on from; nil at the end.
    private var source: LazySource?
    private let batch: Int
    private var last: Link?
    /// What to fetch, of a collection with changes; nil until the first item is asked for.
    private var items: ArraySlice<LazyItem>?
    private var changed: (value: AsyncMagical<Collection>, source: LazySource, state: LazyState)?

    fileprivate init(
      _ value: AsyncMagical<Collection>, _ source: LazySource, _ state: LazyState, batch: Int
    ) {
      links = []
      self.batch = batch
      changed = (value, source, state)
    }

    fileprivate init(
      _ links: ArraySlice<MagicLink<Collection.Target>>, source: LazySource?, batch: Int
    ) {
      self.links = links
      self.source = source
      self.batch = batch
    }

    /// The next item, or nil.
    ///
    /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
    nonisolated(nonsending) public mutating func next() async throws -> Collection.MagicItem? {
      if let changed {
        try await fetch(changed.value, changed.source, changed.state)
      } else if links.isEmpty, let source {
        let page = LazySource.Page(last: last, limit: batch)
        let targets = try await source.store.read { try source.load(page, $0) }
        last = targets.links.last
        if targets.links.count < batch { self.source = nil }
        links = try targets.objects(Collection.Target.self, in: source.store)[...]
      }
      return try links.popFirst().map { try Collection.magicItem(of: $0) }
    }

    /// Fetches the next batch of a collection with changes.
    nonisolated(nonsending) private mutating func fetch(
      _ value: AsyncMagical<Collection>, _ source: LazySource, _ state: LazyState
    ) async throws {
      if items == nil {
        let links = try await source.store.read { try source.links(nil, $0) }
        items = try value.items(links, source, state)[...]
      }
      // What is gone since is passed over, so that a batch may bring nothing.
      while links.isEmpty, let next = items?.prefix(batch), !next.isEmpty {
        items?.removeFirst(next.count)
        links = try await value.fetch(next, source)[...]
      }
    }
  }
}
