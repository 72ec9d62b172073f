/// The elements of a list that have the same key, such as the contacts with the same first letter.
public struct LiveSection<Key: Hashable, Element>: Identifiable {
  /// The key that the elements share.
  public let key: Key
  /// The elements, in the order of the list. A section has at least one.
  public fileprivate(set) var elements: [Element]

  /// The key, which identifies the section in its list.
  public var id: Key { key }
}

extension LiveSection: Equatable where Element: Equatable {}
extension LiveSection: Hashable where Element: Hashable {}
extension LiveSection: Sendable where Key: Sendable, Element: Sendable {}

extension Sequence {
  /// Returns the elements of the sequence, grouped into sections by a key.
  ///
  ///     let ports = Ship.ordered(by: .ascending(\.$port), .ascending(\.$name)).objects
  ///       .map { $0.sections(by: \.port) }
  ///
  /// The sections are in the order of their first elements, and no two have the same key. To keep
  /// the order of the list, sort it by the key first.
  ///
  /// - Parameter key: A key path, or a closure that returns the key of an element.
  /// - Returns: The sections. None of them is empty.
  /// - Throws: The errors of `key`.
  /// - Complexity: O(*n*) for *n* elements.
  public func sections<Key: Hashable>(
    by key: (Element) throws -> Key
  ) rethrows -> [LiveSection<Key, Element>] {
    var sections: [LiveSection<Key, Element>] = []
    var places: [Key: Int] = [:]
    for element in self {
      let key = try key(element)
      // In a sorted list, most elements belong to the last section.
      if let last = sections.indices.last, sections[last].key == key {
        sections[last].elements.append(element)
      } else if let place = places[key] {
        sections[place].elements.append(element)
      } else {
        places[key] = sections.count
        sections.append(LiveSection(key: key, elements: [element]))
      }
    }
    return sections
  }
}
