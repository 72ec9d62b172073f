/// The containers that a decoder has for one type of keys.
final class DecodingContainers<Key: CodingKey> {
  /// One that anybody may keep.
  let owned: RowDecodingContainer<Key>
  /// One that costs less if there is one, boxed by the standard library once.
  let lent: Boxed<KeyedDecodingContainer<Key>>

  init(_ row: DecodedRow, for ticket: RowTicket) {
    owned = RowDecodingContainer(row)
    lent = Boxed(
      LentContainer(owned, for: ticket).map { KeyedDecodingContainer($0) }
        ?? KeyedDecodingContainer(owned))
  }
}
