import SQLiteCore

/// A set of objects.
///
/// Two objects are equal here if they have the same z_index; if neither has one, if they have the
/// same primary value; else if they are copies of one object. Inserting an object replaces its equal.
public struct MagicalSet<Element: MagicObject> {
  /// The objects, in the order in which they were inserted; a fetched set has no order.
  public private(set) var elements: [Element] = []
  /// The objects' places by what tells them apart.
  private var places: [ObjectKey: Int] = [:]

  /// Makes a set of objects; of equal ones the last stays.
  ///
  /// - Parameter elements: The objects.
  public init(_ elements: some Sequence<Element>) {
    for element in elements { insert(element) }
  }

  /// Makes an empty set.
  public init() {}

  /// Inserts an object, in the place of its equal if there is one.
  ///
  /// - Parameter element: The object.
  public mutating func insert(_ element: Element) {
    refresh()
    let key = ObjectKey(element)
    if let place = places[key] {
      elements[place] = element
    } else {
      places[key] = elements.count
      elements.append(element)
    }
  }

  /// Removes the equal of an object.
  ///
  /// - Parameter element: The object.
  /// - Returns: What was removed, or nil if nothing was equal.
  @discardableResult
  public mutating func remove(_ element: Element) -> Element? {
    refresh()
    guard let place = places[ObjectKey(element)] else { return nil }
    let removed = elements.remove(at: place)
    rebuild()
    return removed
  }

  /// Removes the objects that a condition holds for.
  ///
  /// - Parameter condition: Says whether to remove an object.
  public mutating func removeAll(where condition: (Element) throws -> Bool) rethrows {
    try elements.removeAll(where: condition)
    rebuild()
  }

  /// Says whether the set has the equal of an object.
  ///
  /// - Parameter element: The object.
  public func contains(_ element: Element) -> Bool {
    elements.contains { ObjectKey($0) == ObjectKey(element) }
  }

  /// Objects get their z_index when they are saved, so what told them apart may have changed.
  private mutating func refresh() {
    if elements.contains(where: { places[ObjectKey($0)] == nil }) { rebuild() }
  }

  private mutating func rebuild() {
    let all = elements
    elements = []
    places = [:]
    for element in all {
      let key = ObjectKey(element)
      if let place = places[key] {
        elements[place] = element
      } else {
        places[key] = elements.count
        elements.append(element)
      }
    }
  }
}

extension MagicalSet: Sendable where Element: Sendable {}

extension MagicalSet: RandomAccessCollection {
  /// The place of the first object.
  public var startIndex: Int { 0 }
  /// The place behind the last object.
  public var endIndex: Int { elements.count }
  /// The object at a place.
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

/// What tells objects apart in a set.
private enum ObjectKey: Hashable {
  case stored(ObjectIdentifier, String, Int64)
  case primary(ObjectIdentifier, Value)
  case instance(ObjectIdentifier)
  case none

  init<Object: MagicObject>(_ object: Object) {
    let entries = (try? PropertyCollector.entries(of: object)) ?? []
    let type = ObjectIdentifier(Object.self)
    if let identity = entries.first?.cell.place?.storage.lastIdentity {
      self = .stored(type, identity.store.uuid, identity.zIndex)
    } else if let primary = entries.first(where: { $0.type.role.isPrimary }),
      let value = primary.cell.primaryForm(primary.type)
    {
      self = .primary(type, value)
    } else if let cell = entries.first?.cell {
      self = .instance(ObjectIdentifier(cell))
    } else {
      self = .none
    }
  }
}
