import SQLiteCore

/// A set of objects.
///
/// Two objects are equal here if they have the same z_index; if neither has one, if they have the
/// same primary value; else if they are copies of one object. Inserting an object replaces its equal.
public struct MagicalSet<Element: MagicObject> {
  /// The objects, in the order in which they were inserted; a fetched set has no order.
  public private(set) var elements: [Element] = []
  /// The identity of each object when that was last looked at.
  private var keys: [MagicIdentity] = []
  /// The indexes of the objects by these identities, if there are more than ``listed``.
  private var indexes: [MagicIdentity: Int] = [:]
  /// The number of objects that had no z_index when that was last looked at.
  private var unsavedCount = 0

  /// Makes a set of objects; of equal ones the last stays.
  ///
  /// - Parameter elements: The objects.
  public init(_ elements: some Sequence<Element>) {
    for element in elements { insert(element) }
  }

  /// Makes an empty set.
  public init() {}

  /// Inserts an object, instead of its equal if there is one.
  ///
  /// - Parameter element: The object.
  public mutating func insert(_ element: Element) {
    let key = MagicIdentity(element)
    refresh(before: key)
    if let index = index(of: key) {
      elements[index] = element
    } else {
      append(element, key)
    }
  }

  /// Removes the equal of an object.
  ///
  /// - Parameter element: The object.
  /// - Returns: What was removed, or nil if nothing was equal.
  /// - Complexity: O(*n*).
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

  /// Removes the objects that a condition holds for.
  ///
  /// - Parameter condition: Returns whether to remove an object.
  /// - Complexity: O(*n*).
  public mutating func removeAll(where condition: (Element) throws -> Bool) rethrows {
    try elements.removeAll(where: condition)
    rebuild()
  }

  /// Removes objects that have become equal to others since they were inserted; the last stays.
  ///
  /// Two objects become equal when saving them gives them one z_index.
  ///
  /// - Complexity: O(*n*).
  public mutating func deduplicate() {
    if unsavedCount > 0 { rebuild() }
  }

  /// Returns whether the set has the equal of an object.
  ///
  /// - Parameter element: The object.
  public func contains(_ element: Element) -> Bool {
    let key = MagicIdentity(element)
    if index(of: key) != nil { return true }
    guard key.isSaved, unsavedCount > 0 else { return false }
    return keys.indices.contains { !keys[$0].isSaved && MagicIdentity(elements[$0]) == key }
  }

  /// The index of the equal of an object, as far as identities are up to date.
  private func index(of key: MagicIdentity) -> Int? {
    let known = indexes.isEmpty ? keys.firstIndex(of: key) : indexes[key]
    guard let index = known else { return nil }
    // An object that was saved since is not equal to one that was not.
    return key.isSaved || MagicIdentity(elements[index]) == key ? index : nil
  }

  /// Objects get their z_index when they are saved: before one that has it is looked for, those that
  /// had none are looked at.
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

  /// Looking through a few identities takes less than hashing one (benchmark `import`).
  private static var listed: Int { 8 }

  private mutating func indexKeys() {
    indexes = [:]
    guard keys.count > Self.listed else { return }
    for (index, key) in keys.enumerated() { indexes[key] = index }
  }
}

extension MagicalSet: Sendable where Element: Sendable {}

extension MagicalSet: RandomAccessCollection {
  /// The index of the first object.
  public var startIndex: Int { 0 }
  /// The index behind the last object.
  public var endIndex: Int { elements.count }
  /// The object at an index.
  public subscript(position: Int) -> Element { elements[position] }
}

extension MagicalSet: ExpressibleByArrayLiteral {
  /// Makes a set of objects.
  ///
  /// - Parameter elements: The objects.
  public init(arrayLiteral elements: Element...) {
    self.init(elements)
  }
}

extension MagicalSet: MagicRelation {
  /// The type of the objects.
  public typealias Target = Element
}

extension MagicalSet: MagicCollection {
  /// The role of the relation in its table. Opaque.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.set, Element.self)) }

  /// Makes one item. Opaque.
  public static func magicItem(of link: _MagicLink<Element>) -> Element { link.object }

  /// Makes the collection of its objects. Opaque.
  public init(magicLinks: [_MagicLink<Element>]) { self.init(magicLinks.map(\.object)) }

  /// The objects with the keys of their links. Opaque.
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
  /// Reads objects from outside the store.
  public init(from decoder: any Decoder) throws {
    self.init(try [Element](from: decoder))
  }

  /// Writes the objects for use outside the store.
  public func encode(to encoder: any Encoder) throws {
    try elements.encode(to: encoder)
  }
}
