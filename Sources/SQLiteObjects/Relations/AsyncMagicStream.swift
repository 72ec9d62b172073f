import SQLiteCore
import SQLiteRelations

extension AsyncMagical where Element: MagicCollection {
  /// Returns a stream of the items, which are fetched in batches while you iterate.
  ///
  ///     for try await item in try owner.items.stream() { … }
  ///
  /// One batch at a time is in memory, and with unsaved changes also the keys of all items. Each
  /// batch is read from a separate snapshot, so objects that are added or removed during the
  /// iteration may or may not be included. If the iteration ends early, no further batch is
  /// fetched. If the value was set, the stream returns its items without fetching. For a filter or
  /// another order, use `MagicData.forEach(_:batch:_:)` with a query of the relation.
  ///
  /// - Parameter batch: The maximum number of items to fetch at once.
  /// - Returns: The stream. Its iterator throws the errors of the fetches.
  /// - Throws: ``MagicError/detachedValue(type:)`` if the value was never set and its object never
  ///   saved, ``MagicError/unresolvedRelation(type:property:)`` if the value was decoded and not
  ///   resolved, ``MagicError/closed`` if the store was closed, or ``MagicError/restored(type:)``
  ///   if the store's contents have been replaced since the object was fetched.
  public func stream(batch: Int = 500) throws -> AsyncMagicStream<Element> {
    let batch = max(1, batch)
    return switch try known() {
    case .value(let value):
      AsyncMagicStream(
        ItemBatch(items: try value.magicLinks.map { try Element.magicItem(of: $0) }[...]))
    case .source(let objects, let state) where state.edits.isEmpty:
      AsyncMagicStream(ItemBatch { items(after: nil, batch, objects) })
    case .source(let objects, let state):
      AsyncMagicStream(
        ItemBatch {
          objects.request {
            try objects.links($0)
          } then: {
            .known(rest(try items($0.links, objects, state)[...], batch, objects))
          }
        })
    }
  }

  /// Returns the batch of items after a link, or the first batch if `last` is nil.
  private func items(
    after last: StoredLink?, _ batch: Int, _ objects: RelatedObjects
  ) -> LazyAnswer<ItemBatch<Element.MagicItem>> {
    let order = last.flatMap { last in objects.relation.table.map { $0.order(of: last) } }
    return objects.request {
      try objects.targets($0, Relation.Page(after: order, limit: batch))
    } then: { found in
      let items = try items(of: found, objects)[...]
      guard found.links.count == batch else { return .known(ItemBatch(items: items)) }
      return .known(ItemBatch(items: items) { self.items(after: found.links.last, batch, objects) })
    }
  }

  /// Returns an empty batch that is followed by batches of the given items. The links of the items
  /// have already been read, their objects haven't.
  private func rest(
    _ items: ArraySlice<LazyItem>, _ batch: Int, _ objects: RelatedObjects
  ) -> ItemBatch<Element.MagicItem> {
    if items.isEmpty { return ItemBatch() }
    return ItemBatch {
      try fetching(items.prefix(batch), objects).map {
        ItemBatch(items: $0[...], rest: rest(items.dropFirst(batch), batch, objects).rest)
      }
    }
  }
}

/// A stream of the items of a lazy collection, which are fetched in batches while you iterate.
public struct AsyncMagicStream<Collection: MagicCollection>: AsyncSequence {
  private let first: ItemBatch<Collection.MagicItem>

  fileprivate init(_ first: ItemBatch<Collection.MagicItem>) {
    self.first = first
  }

  /// Returns an iterator that starts at the first item.
  public func makeAsyncIterator() -> Iterator { Iterator(batch: first) }

  /// An iterator over the items, which fetches a batch when it has returned all items of the
  /// previous one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var batch: ItemBatch<Collection.MagicItem>

    /// Returns the next item, or nil after the last one. For a dictionary, an item is a pair of a
    /// key and an object.
    ///
    /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed,
    ///   `SQLiteError`, or `CancellationError` if the task was cancelled.
    nonisolated(nonsending) public mutating func next() async throws -> Collection.MagicItem? {
      try await batch.next()
    }
  }
}
