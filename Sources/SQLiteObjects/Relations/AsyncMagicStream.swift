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
  /// With a filter or sort keys the keys of all items that it finds are read first, in one snapshot, and take memory.
  ///
  /// - Parameters:
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The sort keys, the most significant first; without any, and of equals, the collection's order.
  ///   - batch: The most items to fetch at once.
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is no value; ``MagicError/unsavedChanges(type:)`` for a
  ///   filter or sort keys on a value that was set or changed and is not saved yet.
  public func createAsyncStream(
    where filter: Filter<Element.Target>? = nil, orderedBy order: [SortKey<Element.Target>] = [],
    batch: Int = 500
  ) throws -> AsyncMagicStream<Element> {
    let known = try known()
    if filter != nil || !order.isEmpty {
      guard case .source(let objects, let state) = known, state.edits.isEmpty else {
        throw MagicError.unsavedChanges(type: "\(Element.self)")
      }
      let page = Relation.Page(
        where: try objects.condition(filter), orderedBy: try objects.order(order))
      return AsyncMagicStream(.changed(self, objects, state, page), batch: max(1, batch))
    }
    return switch known {
    case .value(let value):
      AsyncMagicStream(.items(try value.magicLinks.map { try Element.magicItem(of: $0) }), batch: 1)
    case .source(let objects, let state) where state.edits.isEmpty:
      AsyncMagicStream(.objects(objects, last: nil), batch: max(1, batch))
    case .source(let objects, let state):
      AsyncMagicStream(.changed(self, objects, state, .init()), batch: max(1, batch))
    }
  }
}

/// The items of a lazy collection, fetched in batches as they are asked for.
public struct AsyncMagicStream<Collection: MagicCollection>: AsyncSequence {
  /// The source of the next items.
  fileprivate indirect enum Origin {
    case items([Collection.MagicItem])
    /// The store, to be read on from the last link.
    case objects(RelatedObjects, last: Link?)
    /// A collection whose links, some or all, were not read yet, with changes to be made to them.
    case changed(AsyncMagical<Collection>, RelatedObjects, LazyState, Relation.Page)
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
        case .changed(let value, let objects, let state, let page):
          let answer = try await objects.answer(.links(key: nil, page))
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
