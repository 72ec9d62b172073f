import SQLiteCore

/// A set of objects.
///
/// Two saved objects are equal if they have the same z_index in the same store. Two unsaved objects
/// are equal if they have the same primary value or, without a primary value, if they are copies of
/// one object. Inserting an object replaces the one that is equal to it.
public struct MagicalSet<Element: MagicObject> {
  /// The objects, in the order in which they were inserted. An object that replaces an equal one
  /// takes its position. The order of a fetched set is unspecified.
  public private(set) var elements: [Element] = []
  /// The identity of each object when it was last determined.
  private var keys: [MagicIdentity] = []
  /// The index of each identity in ``keys``. Empty if the set has at most ``maximumUnindexedCount``
  /// objects.
  private var indexes: [MagicIdentity: Int] = [:]
  /// The number of unsaved objects according to ``keys``.
  private var unsavedCount = 0

  /// Creates a set of objects. If several of them are equal, the set contains only the last one.
  ///
  /// - Parameter elements: The objects.
  public init(_ elements: some Sequence<Element>) {
    for element in elements { insert(element) }
  }

  /// Creates an empty set.
  public init() {}

  /// Inserts an object, or replaces the one that is equal to it.
  ///
  /// - Parameter element: The object to insert.
  public mutating func insert(_ element: Element) {
    let key = MagicIdentity(element)
    refresh(before: key)
    if let index = index(of: key) {
      elements[index] = element
    } else {
      append(element, key)
    }
  }

  /// Removes the object that is equal to a given one.
  ///
  /// - Parameter element: An object.
  /// - Returns: The removed object, or nil if none was equal.
  /// - Complexity: O(*n*), where *n* is the number of objects.
  @discardableResult
  public mutating func remove(_ element: Element) -> Element? {
    let key = MagicIdentity(element)
    refresh(before: key)
    guard let index = index(of: key) else { return nil }
    let removed = elements.remove(at: index)
    if !keys.remove(at: index).isSaved { unsavedCount -= 1 }
    indexKeys()
    return removed
  }

  /// Removes all objects that satisfy a condition.
  ///
  /// - Parameter condition: Returns true for an object to remove.
  /// - Throws: Any error that `condition` throws.
  /// - Complexity: O(*n*), where *n* is the number of objects.
  public mutating func removeAll(where condition: (Element) throws -> Bool) rethrows {
    try elements.removeAll(where: condition)
    rebuild()
  }

  /// Removes objects that have become equal to others after they were inserted. Of several equal
  /// objects, only the last one remains, at the position of the first.
  ///
  /// Two objects become equal if saving them assigns them the same z_index.
  ///
  /// - Complexity: O(*n*), where *n* is the number of objects.
  public mutating func deduplicate() {
    if unsavedCount > 0 { rebuild() }
  }

  /// Returns a Boolean value that indicates whether the set contains an object that is equal to a
  /// given one.
  ///
  /// - Parameter element: An object.
  /// - Returns: True if one of the objects is equal to `element`.
  public func contains(_ element: Element) -> Bool {
    let key = MagicIdentity(element)
    if index(of: key) != nil { return true }
    guard key.isSaved, unsavedCount > 0 else { return false }
    return keys.indices.contains { !keys[$0].isSaved && MagicIdentity(elements[$0]) == key }
  }

  /// Returns the index of the object with an identity, according to ``keys``.
  private func index(of key: MagicIdentity) -> Int? {
    let known = indexes.isEmpty ? keys.firstIndex(of: key) : indexes[key]
    guard let index = known else { return nil }
    // An object that was saved since isn't equal to an unsaved one.
    return key.isSaved || MagicIdentity(elements[index]) == key ? index : nil
  }

  /// Updates the identities before a search for a saved object. Objects without a z_index may have
  /// received one from a save.
  private mutating func refresh(before key: MagicIdentity) {
    guard key.isSaved, unsavedCount > 0 else { return }
    for (index, key) in keys.enumerated() where !key.isSaved {
      guard MagicIdentity(elements[index]).isSaved else { continue }
      rebuild()
      return
    }
  }

  private mutating func rebuild() {
    let all = elements
    (elements, keys, indexes, unsavedCount) = ([], [], [:], 0)
    for element in all {
      let key = MagicIdentity(element)
      if let index = index(of: key) {
        elements[index] = element
      } else {
        append(element, key)
      }
    }
  }

  private mutating func append(_ element: Element, _ key: MagicIdentity) {
    if !indexes.isEmpty { indexes[key] = elements.count }
    elements.append(element)
    keys.append(key)
    if !key.isSaved { unsavedCount += 1 }
    if indexes.isEmpty { indexKeys() }
  }

  /// The maximum number of objects that are searched without a hash table. Comparing a few
  /// identities takes less time than hashing one (benchmark `import`).
  private static var maximumUnindexedCount: Int { 8 }

  private mutating func indexKeys() {
    indexes = [:]
    guard keys.count > Self.maximumUnindexedCount else { return }
    for (index, key) in keys.enumerated() { indexes[key] = index }
  }
}

extension MagicalSet: Sendable where Element: Sendable {}

extension MagicalSet: RandomAccessCollection {
  /// The position of the first object, which is always 0.
  public var startIndex: Int { 0 }
  /// The position after the last object.
  public var endIndex: Int { elements.count }
  /// The object at a position.
  ///
  /// - Parameter position: A valid position: at least 0, and less than ``endIndex``.
  public subscript(position: Int) -> Element { elements[position] }
}

extension MagicalSet: ExpressibleByArrayLiteral {
  /// Creates a set from an array literal. If several objects are equal, the set contains only the
  /// last one.
  ///
  /// - Parameter elements: The objects.
  public init(arrayLiteral elements: Element...) {
    self.init(elements)
  }
}

extension MagicalSet: MagicRelation {
  /// The type of the related objects.
  public typealias Target = Element
}

extension MagicalSet: MagicCollection {
  /// The role of a property of this type: links without order or duplicates. For internal use.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.set, Element.self)) }

  /// Returns the object of a link. For internal use.
  ///
  /// - Parameter link: A link of the set.
  /// - Returns: The object.
  public static func magicItem(of link: _MagicLink<Element>) -> Element { link.object }

  /// Creates a set of the objects of links. For internal use.
  ///
  /// - Parameter magicLinks: The links.
  public init(magicLinks: [_MagicLink<Element>]) { self.init(magicLinks.map(\.object)) }

  /// The objects of the set as links without keys. For internal use.
  public var magicLinks: [_MagicLink<Element>] { elements.map { _MagicLink(.null, $0) } }
}

extension MagicalSet: ContiguousObjects {
  @unsafe static func withObjects<Result>(
    of live: _LiveValue, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try unsafe (live.value as? Self)?.elements.withUnsafeBytes(body)
  }
}

extension MagicalSet: Codable {
  /// Creates a set by decoding an array of objects from external data, such as JSON.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: Any error of the decoder or of the objects' `init(from:)`.
  public init(from decoder: any Decoder) throws {
    self.init(try [Element](from: decoder))
  }

  /// Encodes the objects as an array for use outside the store, such as in JSON.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error of the encoder or of the objects' `encode(to:)`.
  public func encode(to encoder: any Encoder) throws {
    try elements.encode(to: encoder)
  }
}
