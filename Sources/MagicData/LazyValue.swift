/// A value that is fetched on demand.
package protocol LazyValue: Codable, Sendable {
  /// What the property is to its table.
  static var role: PropertyRole { get }
  /// Makes a value that will be fetched, or of which nothing is left if there is no source.
  init(source: LazySource?)
  /// Makes a value that was decoded.
  init(unresolved keys: RelationKeys)
  /// What was decoded, if it was not resolved yet.
  var keys: RelationKeys? { get }
  /// The value that was set, or nil.
  var live: LiveValue? { get }
  /// Where the value is to be fetched from, or nil if it was set.
  var source: LazySource? { get }
  /// How often the value was set since it was saved or fetched.
  var changes: Int { get }
  /// Notes that the value was saved as it was after so many changes.
  func saved(after changes: Int)
  /// Notes that the transaction was undone in which the value was saved.
  func unsaved(after changes: Int)
}
