/// A value of a type that only the box knows: finding out what `KeyedDecodingContainer<Key>` is costs
/// as much at run time as reading a column (benchmark `fetch`).
final class Boxed<Content> {
  private let content: Content

  init(_ content: Content) {
    self.content = content
  }

  @inline(never)
  func copy() -> Content { content }
}
