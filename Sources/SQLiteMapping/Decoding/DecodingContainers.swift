/// The containers that a decoder has for one type of keys.
final class DecodingContainers<Key: CodingKey>: HandedOut {
  private let container: RowDecodingContainer<Key>
  /// What is handed out, boxed by the standard library once: one that costs less, if there is one.
  let boxed: Boxed<KeyedDecodingContainer<Key>>

  init(_ row: DecodedRow) {
    container = RowDecodingContainer(row)
    boxed = Boxed(
      LentContainer(container).map { KeyedDecodingContainer($0) }
        ?? KeyedDecodingContainer(container))
  }

  override var isKept: Bool { boxed.isKept }
}
