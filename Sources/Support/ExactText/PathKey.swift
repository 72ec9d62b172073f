/// A step of a coding path that is no key of a type's own.
package struct PathKey: CodingKey {
  package let stringValue: String
  package let intValue: Int?

  /// Creates the step to the member of that name.
  package init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  /// Creates the step to an element of a list.
  package init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  package init?(stringValue: String) { self.init(stringValue) }

  package init?(intValue: Int) { self.init(index: intValue) }
}
