/// An element of a coding path that isn't a key declared by a type, such as an array index.
package struct PathKey: CodingKey {
  package let stringValue: String
  package let intValue: Int?

  /// Creates the key of an object's member with the given name.
  package init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  /// Creates the key of an array element.
  package init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  package init?(stringValue: String) { self.init(stringValue) }

  package init?(intValue: Int) { self.init(index: intValue) }
}
