import SQLiteObjects

/// The last change of a list of objects in ``LiveResults``, for example to animate a list.
///
/// Objects are identified by their row IDs (`z_index`).
public struct LiveChange: Hashable, Sendable {
  /// The row IDs of the objects, in the order of the list.
  public let identities: [Int]
  /// The difference between the previous list and this one. The first list inserts all objects. A
  /// moved object is a removal and an insertion that are associated with each other.
  public let difference: CollectionDifference<Int>
  /// The indexes in this list of the objects that were in the previous list and have changed since:
  /// in a property, in a link, in the content of an asset, or in an object that they reference.
  public let updated: [Int]

  /// Returns the difference between a list that you show and this one.
  ///
  /// Use it if your list may have missed a change, for example because it was off the screen.
  /// ``difference`` applies only to the previous list.
  ///
  /// - Parameter shown: The ``identities`` of the list that you show now.
  /// - Returns: The difference, with as few moved objects as possible.
  /// - Complexity: O(*n* log *n*) for lists of *n* objects.
  public func difference(from shown: [Int]) -> CollectionDifference<Int> {
    ObservedList.difference(from: shown, to: identities)
  }
}
