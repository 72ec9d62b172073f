public import Essentials
public import SQLiteCore

/// What a transaction has changed in one object.
public struct TrailEntry: Hashable, Sendable {
  /// The effect on the object.
  public enum Kind: Int, Hashable, Sendable {
    /// It is new.
    case inserted
    /// Properties or links have changed.
    case updated
    /// It is gone.
    case deleted
    /// The transaction has changed more than is written down, perhaps this object.
    case unknown
  }

  /// A property with its stored values; the links of a property are their targets' z_index values, each a change.
  public struct Change: Hashable, Sendable {
    /// The property's name.
    public let property: String
    /// The stored value before; nil for an object or a link that is new.
    public let old: Value?
    /// The stored value after; nil for an object or a link that is gone.
    public let new: Value?

    package init(property: String, old: Value?, new: Value?) {
      self.property = property
      self.old = old
      self.new = new
    }
  }

  /// The time of the commit.
  public let date: Date
  /// The author, `ChangeAuthor` of the task; nil for none.
  public let author: String?
  /// The effect.
  public internal(set) var kind: Kind
  /// The changed properties, or, of an object that came or went, all; then its links.
  public internal(set) var changes: [Change]
}
