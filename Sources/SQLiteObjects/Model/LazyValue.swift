/// A value that is fetched on demand.
package protocol LazyValue: Codable, Sendable {
  /// What the property is to its table.
  static var role: PropertyRole { get }
  /// Makes a value that will be fetched, or of which nothing is left if there is no source.
  init(source: LazySource?)
  /// Makes a value that was decoded.
  init(unresolved keys: RelationKeys)
  /// What is known of the value.
  var state: LazyState { get }
  /// What is known of the value, with changes of one that was set applied to it.
  func folded() throws -> LazyState
  /// Notes that the value was saved as it was in a state, with some links if it has links.
  func saved(_ state: LazyState, _ base: LazyLinks?)
  /// Notes that the transaction was undone in which the value was saved as it was in a state.
  func unsaved(_ state: LazyState)
}
