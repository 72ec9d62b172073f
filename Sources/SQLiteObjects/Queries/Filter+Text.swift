extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element == String {
  /// True if the text begins with another, byte by byte: `(\Person.$name).hasPrefix("An")`.
  ///
  /// - Parameter prefix: The beginning.
  public func hasPrefix(_ prefix: String) -> Filter<Root> {
    Filter(.hasPrefix(Operand(self), prefix))
  }

  /// True if the text contains another, byte by byte: case matters.
  ///
  /// - Parameter part: What to look for.
  public func contains(_ part: String) -> Filter<Root> {
    Filter(.contains(Operand(self), part))
  }

  /// True if the text is like a pattern: SQLite's LIKE, for which case does not matter in ASCII.
  ///
  /// - Parameter pattern: Text in which `%` stands for any text and `_` for any character.
  public func like(_ pattern: String) -> Filter<Root> {
    Filter(.like(Operand(self), pattern))
  }
}
