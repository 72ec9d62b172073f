/// What is wrong with one line of a file, told without the line's place.
package struct LineProblem: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
