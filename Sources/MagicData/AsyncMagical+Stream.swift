import SQLiteCore
import SQLiteRelations

extension AsyncMagical where Element: MagicCollection {
  /// The items one after the other, fetched in batches as they are asked for.
  ///
  ///     for try await item in try owner.items.createAsyncStream() { … }
  ///
  /// Takes the memory of one batch, however many items there are. Each batch is a snapshot of its own:
  /// objects that come or go meanwhile are met or not. Nothing is fetched after the last item that is
  /// asked for.
  ///
  /// - Parameter batch: The most items to fetch at once.
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is no value.
  public func createAsyncStream(batch: Int = 500) throws -> AsyncMagicStream<Element> {
    switch try known() {
    case .value(let value): AsyncMagicStream(.links(try value.magicLinks), batch: 1)
    case .source(let source): AsyncMagicStream(.source(source), batch: max(1, batch))
    }
  }
}

/// The items of a lazy collection, fetched in batches as they are asked for.
public struct AsyncMagicStream<Collection: MagicCollection>: AsyncSequence {
  /// Where the items come from.
  fileprivate enum Origin {
    case links([MagicLink<Collection.Target>])
    case source(LazySource)
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
    }
  }

  /// Where a loop stands.
  public struct Iterator: AsyncIteratorProtocol {
    private var links: ArraySlice<MagicLink<Collection.Target>>
    /// What to read on from; nil at the end.
    private var source: LazySource?
    private let batch: Int
    private var last: Link?

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
      if links.isEmpty, let source {
        let page = LazySource.Page(last: last, limit: batch)
        let targets = try await source.store.read { try source.load(page, $0) }
        last = targets.links.last
        if targets.links.count < batch { self.source = nil }
        links = try targets.objects(Collection.Target.self, in: source.store)[...]
      }
      return try links.popFirst().map { try Collection.magicItem(of: $0) }
    }
  }
}
