public import Essentials
public import SQLiteCore

/// The changes that one transaction made to an object.
public struct TrailEntry: Hashable, Sendable {
  /// The effect of a transaction on an object.
  public enum Kind: Int, Hashable, Sendable {
    /// The object was inserted.
    case inserted
    /// Properties or links of the object were changed.
    case updated
    /// The object was removed.
    case deleted
    /// The transaction was too large to record. It may have changed this object.
    case unknown
  }

  /// A change of one property. For a to-many relation, each added or removed link is a separate
  /// change, and its value is the target's `z_index`.
  public struct Change: Hashable, Sendable {
    /// The name of the property.
    public let property: String
    /// The stored value before the transaction; nil if the object or the link is new.
    public let old: Value?
    /// The stored value after the transaction; nil if the object or the link was removed.
    public let new: Value?

    package init(property: String, old: Value?, new: Value?) {
      self.property = property
      self.old = old
      self.new = new
    }
  }

  /// The date at which the transaction was recorded, immediately before its commit.
  public let date: Date
  /// The author that `ChangeAuthor` specified for the task; nil if it specified no author.
  public let author: String?
  /// The effect of the transaction on the object.
  public internal(set) var kind: Kind
  /// The changed properties and links. If the object was inserted or removed, these are all its
  /// properties and links. Empty if the kind is ``Kind/unknown``.
  public internal(set) var changes: [Change]
}
